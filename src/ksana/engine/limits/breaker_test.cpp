#include "ksana/engine/limits/breaker.hpp"

#include <gtest/gtest.h>

namespace ksana::engine {
namespace {

using std::chrono::seconds;

class BreakerTest : public ::testing::Test {
  protected:
    void Fail(bool probe = false, std::optional<Duration> after = {}) {
        breaker_.Failed(probe, now_, after);
    }
    void Open() {
        for (int n = 0; n < 3; ++n) Fail();
        ASSERT_EQ(breaker_.state(), BreakerState::kOpen);
    }
    Duration Pause() const { return std::chrono::ceil<Duration>(breaker_.retry_at() - now_); }

    SteadyPoint now_{seconds(1000)};
    Breaker breaker_{{.failures = 3, .first_pause = seconds(10), .longest_pause = seconds(60)},
                     "node host:80"};
};

TEST_F(BreakerTest, OpensAfterFailuresInARow) {
    Fail();
    Fail();
    breaker_.Answered(now_);
    Fail();
    Fail();
    EXPECT_TRUE(breaker_.Allows(now_)) << "an answer came in between";
    Fail();
    EXPECT_EQ(breaker_.state(), BreakerState::kOpen);
    EXPECT_FALSE(breaker_.Allows(now_));
    EXPECT_GE(Pause(), seconds(10));
    EXPECT_LE(Pause(), seconds(12));
}

TEST_F(BreakerTest, OneCallGoesOutToSee) {
    Open();
    now_ = breaker_.retry_at();
    ASSERT_TRUE(breaker_.Allows(now_));
    EXPECT_TRUE(breaker_.Begin());
    EXPECT_FALSE(breaker_.Allows(now_)) << "one at a time";
    now_ += seconds(1);
    breaker_.Answered(now_);
    EXPECT_EQ(breaker_.state(), BreakerState::kClosed);
    EXPECT_EQ(breaker_.failures(), 0);
    EXPECT_FALSE(breaker_.Begin());
}

TEST_F(BreakerTest, PausesGrowUpToTheLongest) {
    Open();
    Duration last = Pause();
    for (int n = 0; n < 6; ++n) {
        now_ = breaker_.retry_at();
        ASSERT_TRUE(breaker_.Begin());
        Fail(true);
        EXPECT_GE(Pause(), std::min<Duration>(last, seconds(60)));
        EXPECT_LE(Pause(), seconds(72));
        last = Pause();
    }
    EXPECT_GE(last, seconds(60));
    now_ = breaker_.retry_at();
    breaker_.Begin();
    breaker_.Answered(now_);
    for (int n = 0; n < 3; ++n) Fail();
    EXPECT_LE(Pause(), seconds(12)) << "it starts anew";
}

TEST_F(BreakerTest, TheTargetsWishIsObeyedWithinBounds) {
    Fail();
    Fail();
    Fail(false, seconds(300));
    EXPECT_EQ(Pause(), seconds(300));
    now_ = breaker_.retry_at();
    breaker_.Begin();
    Fail(true, std::chrono::hours(100));
    EXPECT_EQ(Pause(), kLongestWish);
    now_ = breaker_.retry_at();
    breaker_.Begin();
    Fail(true, seconds(1));
    EXPECT_GT(Pause(), seconds(10)) << "it may only ask for more";
}

TEST_F(BreakerTest, CallsFromBeforeItOpenedChangeNothing) {
    const SteadyPoint before = now_;
    now_ += seconds(1);
    Open();
    const SteadyPoint retry = breaker_.retry_at();
    now_ += seconds(2);
    Fail();
    EXPECT_EQ(breaker_.retry_at(), retry);
    breaker_.Answered(before);
    EXPECT_EQ(breaker_.state(), BreakerState::kOpen);
}

TEST_F(BreakerTest, AProbeThatTellsNothingIsFollowedByAnother) {
    Open();
    now_ = breaker_.retry_at() + seconds(5);
    breaker_.Begin();
    breaker_.Undecided(now_);
    EXPECT_TRUE(breaker_.Allows(now_));
    EXPECT_TRUE(breaker_.Begin());
}

TEST(Breaker, CanBeSwitchedOff) {
    Breaker breaker({.failures = 0}, "");
    for (int n = 0; n < 1000; ++n) breaker.Failed(false, SteadyPoint{}, {});
    EXPECT_EQ(breaker.state(), BreakerState::kClosed);
}

TEST(Breaker, NodesDoNotComeAtTheSameTime) {
    Breaker one({.failures = 1}, "a host:80");
    Breaker two({.failures = 1}, "b host:80");
    one.Failed(false, SteadyPoint{}, {});
    two.Failed(false, SteadyPoint{}, {});
    EXPECT_NE(one.retry_at(), two.retry_at());
}

}  // namespace
}  // namespace ksana::engine
