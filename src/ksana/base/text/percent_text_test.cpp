#include "ksana/base/text/escape.hpp"

#include <gtest/gtest.h>

namespace ksana {
namespace {

TEST(PercentEncode, KeepsWhatMeansNothingInAUrl) {
    EXPECT_EQ(PercentEncode("aZ09-._~"), "aZ09-._~");
    EXPECT_EQ(PercentEncode(""), "");
}

TEST(PercentEncode, HidesEverythingElse) {
    EXPECT_EQ(PercentEncode("a/b?c=d&e#f"), "a%2Fb%3Fc%3Dd%26e%23f");
    EXPECT_EQ(PercentEncode("日 %"), "%E6%97%A5%20%25");
    EXPECT_EQ(PercentEncode(std::string_view("\0\n", 2)), "%00%0A");
}

}  // namespace
}  // namespace ksana
