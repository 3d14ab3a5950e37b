#include "ksana/base/text/escape.hpp"

#include <gtest/gtest.h>

namespace ksana {
namespace {

TEST(PointerStep, EscapesWhatAPointerIsMadeOf) {
    EXPECT_EQ(PointerStep("name"), "/name");
    EXPECT_EQ(PointerStep("a/b~c"), "/a~1b~0c");
    EXPECT_EQ(PointerStep(""), "/");
}

TEST(KeyOfStep, IsWhatTheStepWasMadeOf) {
    EXPECT_EQ(KeyOfStep("name"), "name");
    EXPECT_EQ(KeyOfStep("a~1b~0c~01"), "a/b~c~1");
    EXPECT_EQ(KeyOfStep("a~"), "a~");
    EXPECT_EQ(KeyOfStep(""), "");
}

}  // namespace
}  // namespace ksana
