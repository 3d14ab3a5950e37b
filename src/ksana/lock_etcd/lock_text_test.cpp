#include "ksana/lock_etcd/lock_text.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace ksana::lock_etcd {
namespace {

TEST(LockTextTest, EveryByteComesBackFromBase64) {
    std::string bytes;
    for (int i = 0; i < 300; ++i) {
        EXPECT_EQ(FromBase64(ToBase64(bytes)), bytes) << i;
        bytes += static_cast<char>(i);
    }
    EXPECT_EQ(ToBase64("a"), "YQ==");
    EXPECT_EQ(FromBase64("YQ="), std::nullopt);
    EXPECT_EQ(FromBase64("Y!=="), std::nullopt);
}

TEST(LockTextTest, TheTextOfStampsHasTheirOrder) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    const std::int64_t stamps[] = {-kMost - 1, -kMost, -10, -9, -1, 0, 1, 9, 10, kMost - 1, kMost};
    std::string last;
    for (const std::int64_t stamp : stamps) {
        const std::string text = StampText(stamp);
        EXPECT_EQ(text.size(), 20U) << stamp;
        EXPECT_LT(last, text) << stamp;
        EXPECT_EQ(ParseStamp(text), stamp);
        last = text;
    }
    for (const char* text : {"", "1", "1000000000000000000x", "10000000000000000000",
                             "09223372036854775808", "0-000000000000000001"}) {
        EXPECT_EQ(ParseStamp(text), std::nullopt) << text;
    }
}

TEST(LockTextTest, TheValueOfALockComesBack) {
    for (const char* token : {"t", "+1:t", "", ":", "a\nb"}) {
        for (const bool add : {true, false}) {
            const Holding holding{.token = token, .number = 1790, .add_revision = add};
            EXPECT_EQ(ParseHolding(HoldingText(holding)), holding);
            EXPECT_EQ(holding.Fence(5), add ? 1795 : 1790);
        }
    }
    for (const char* text : {"", ":", "t", "1:t", "+:t", "+1", "+-1:t", "+9223372036854775807:t"}) {
        EXPECT_EQ(ParseHolding(text), std::nullopt) << text;
    }
}

TEST(LockTextTest, TheStampHasAKeyOfItsOwn) {
    EXPECT_EQ(StampKey("a"), std::string("a\0stamp", 7));
    EXPECT_NE(StampKey("a"), StampKey("b"));
}

}  // namespace
}  // namespace ksana::lock_etcd
