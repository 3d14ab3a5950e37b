#include "apps/ksana/toolkit/rate_option.hpp"

#include <gtest/gtest.h>

namespace ksana::app {
namespace {

TEST(RateOption, ReadsAndShowsTheSame) {
    for (const char* const text : {"10/1m", "1/1s", "10/1m,burst=20"}) {
        const auto rate = RateOf(text);
        ASSERT_TRUE(rate) << text;
        EXPECT_EQ(RateText(*rate), text);
    }
    ASSERT_TRUE(RateOf("none"));
    EXPECT_TRUE(RateOf("none")->IsNull());
    EXPECT_EQ(RateText({}), "");
}

TEST(RateOption, RefusesWhatIsNone) {
    for (const char* const text : {"", "10", "/1m", "0/1m", "-1/1m", "10/", "10/x", "10/0s",
                                   "10/1m,burst=", "10/1m,burst=0", "1e3/1m"}) {
        const auto rate = RateOf(text);
        ASSERT_FALSE(rate) << text;
        EXPECT_EQ(rate.error().code, Code::kInvalidArgument);
    }
}

}  // namespace
}  // namespace ksana::app
