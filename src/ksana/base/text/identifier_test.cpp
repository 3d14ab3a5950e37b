#include "ksana/base/text/names.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ksana {
namespace {

TEST(IsIdentifier, TakesPlainNamesOnly) {
    for (const char* text : {"a", "nightly-report", "A.b_c:9", "0", "...", ".a"}) {
        EXPECT_TRUE(IsIdentifier(text)) << text;
    }
    for (const char* text : {"", "a b", "a/b", "ü", "a\n", "a~b", ".", ".."}) {
        EXPECT_FALSE(IsIdentifier(text)) << text;
    }
    EXPECT_TRUE(IsIdentifier(std::string(128, 'x')));
    EXPECT_FALSE(IsIdentifier(std::string(129, 'x')));
}

}  // namespace
}  // namespace ksana
