#include "ksana/base/text/escape.hpp"

#include <gtest/gtest.h>

namespace ksana {
namespace {

TEST(PointerStep, EscapesWhatAPointerIsMadeOf) {
    EXPECT_EQ(PointerStep("name"), "/name");
    EXPECT_EQ(PointerStep("a/b~c"), "/a~1b~0c");
    EXPECT_EQ(PointerStep(""), "/");
}

TEST(UnescapePointerStep, IsWhatTheStepWasMadeOf) {
    EXPECT_EQ(UnescapePointerStep("name"), "name");
    EXPECT_EQ(UnescapePointerStep("a~1b~0c~01"), "a/b~c~1");
    EXPECT_EQ(UnescapePointerStep("a~"), "a~");
    EXPECT_EQ(UnescapePointerStep(""), "");
}

}  // namespace
}  // namespace ksana
