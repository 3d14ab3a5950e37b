#include "ksana/base/text/escape.hpp"

#include <gtest/gtest.h>

namespace ksana {
namespace {

TEST(PointerStep, EscapesWhatAPointerIsMadeOf) {
    EXPECT_EQ(PointerStep("name"), "/name");
    EXPECT_EQ(PointerStep("a/b~c"), "/a~1b~0c");
    EXPECT_EQ(PointerStep(""), "/");
}

}  // namespace
}  // namespace ksana
