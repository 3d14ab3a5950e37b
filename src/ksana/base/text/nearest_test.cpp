#include "ksana/base/text/names.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace ksana {
namespace {

constexpr std::array<std::string_view, 5> kWords = {"every", "once", "cron", "schedule", "timeout"};

TEST(Nearest, FindsTheWordThatWasMeant) {
    EXPECT_EQ(Nearest("shcedule", kWords), "schedule");
    EXPECT_EQ(Nearest("Timeuot", kWords), "timeout");
    EXPECT_EQ(Nearest("evry", kWords), "every");
    EXPECT_EQ(Nearest("cron", kWords), "cron");
}

TEST(Nearest, StaysSilentWhenNothingIsNear) {
    EXPECT_FALSE(Nearest("zebra", kWords));
    EXPECT_FALSE(Nearest("", kWords));
    EXPECT_FALSE(Nearest("abcd", kWords));
    EXPECT_FALSE(Nearest(std::string(1 << 20, 'x'), kWords));
}

}  // namespace
}  // namespace ksana
