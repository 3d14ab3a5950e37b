#include "ksana/model/job/limit_share.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace ksana::model {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kLease = seconds(5);

// Nodes that ask for their shares of one limit, one after the other.
class LimitShareTest : public ::testing::Test {
  protected:
    ShareOutcome Ask(const std::string& owner, std::int64_t in_use, std::int64_t waiting,
                     std::vector<StartsAt> recent = {}) {
        ShareOutcome outcome = Rebalance(
            book_, limit_,
            {.owner = owner, .in_use = in_use, .waiting = waiting, .recent = std::move(recent)},
            now_, kLease);
        book_ = outcome.book;
        std::int64_t places = 0;
        std::int64_t starts = 0;
        for (const NodeShare& node : book_.nodes) {
            places += node.places.held;
            starts += node.starts.held;
        }
        for (const CoolingStarts& one : book_.cooling) starts += one.starts;
        if (limit_.max_concurrency) {
            EXPECT_LE(places, *limit_.max_concurrency);
        }
        if (limit_.rate) {
            EXPECT_LE(starts, limit_.rate->count);
        }
        return outcome;
    }
    ShareOutcome Leave(const std::string& owner, std::vector<StartsAt> recent = {}) {
        ShareOutcome outcome =
            Rebalance(book_, limit_, {.owner = owner, .recent = std::move(recent), .leave = true},
                      now_, kLease);
        book_ = outcome.book;
        return outcome;
    }

    Limit limit_{.max_concurrency = 10};
    ShareBook book_;
    TimePoint now_{seconds(1'000'000)};
};

TEST_F(LimitShareTest, ANodeAloneHasEverything) {
    const ShareOutcome alone = Ask("a", 0, 1);
    EXPECT_EQ(alone.places, 10);
    EXPECT_FALSE(alone.unmet);
    EXPECT_FALSE(alone.concerns_others) << "there is nobody";
}

TEST_F(LimitShareTest, OnlyWhatIsNotUsedIsGivenUpAndOnlyIfItIsWanted) {
    EXPECT_EQ(Ask("a", 0, 20).places, 10);
    EXPECT_EQ(Ask("a", 8, 0).places, 10) << "nobody else wants it";
    const ShareOutcome first = Ask("b", 0, 20);
    EXPECT_EQ(first.places, 0);
    EXPECT_TRUE(first.unmet && first.concerns_others);
    const ShareOutcome gives = Ask("a", 8, 12);
    EXPECT_EQ(gives.places, 5) << "nothing more starts above its part";
    EXPECT_EQ(gives.book.nodes[0].places.held, 8) << "what runs keeps its place";
    EXPECT_TRUE(gives.concerns_others);
    EXPECT_EQ(Ask("b", 0, 20).places, 2);
    EXPECT_EQ(Ask("a", 5, 12).places, 5);
    EXPECT_EQ(Ask("b", 2, 20).places, 5);
}

TEST_F(LimitShareTest, WhoNeedsLittleLeavesTheRest) {
    Ask("a", 0, 2);
    Ask("b", 0, 20);
    EXPECT_EQ(Ask("a", 2, 0).places, 2);
    EXPECT_EQ(Ask("b", 0, 20).places, 8);
}

TEST_F(LimitShareTest, ADeadNodesPlacesAreFreeWhenItsShareEnds) {
    Ask("a", 0, 20);
    now_ += kLease - milliseconds(1);
    EXPECT_EQ(Ask("b", 0, 20).places, 0);
    now_ += milliseconds(1);
    EXPECT_EQ(Ask("b", 0, 20).places, 10);
    EXPECT_EQ(book_.nodes.size(), 1U);
}

TEST_F(LimitShareTest, WhatANodeThatWasAwayStillHasMakesNoRoomWhenItEnds) {
    limit_.max_concurrency = 2;
    Ask("a", 0, 20);
    Ask("b", 0, 20);
    Ask("a", 0, 20);
    EXPECT_EQ(Ask("b", 1, 20).places, 1);
    now_ += kLease;
    EXPECT_EQ(Ask("a", 1, 20).places, 2) << "b is silent";
    const auto back = [&](std::int64_t in_use) {
        const ShareOutcome outcome =
            Rebalance(book_, limit_, {.owner = "b", .in_use = in_use, .waiting = 20}, now_, kLease);
        book_ = outcome.book;
        return outcome.places;
    };
    EXPECT_EQ(back(1), 0) << "a uses both";
    EXPECT_EQ(back(0), 0) << "a still does";
    EXPECT_EQ(Ask("a", 1, 20).places, 1);
    EXPECT_EQ(Ask("b", 0, 20).places, 1);
}

TEST_F(LimitShareTest, WhoLeavesGivesEverythingBackAtOnce) {
    Ask("a", 0, 20);
    Ask("b", 0, 1);
    EXPECT_TRUE(Leave("a").concerns_others);
    EXPECT_EQ(Ask("b", 0, 1).places, 10);
}

TEST_F(LimitShareTest, NodesTakeTurnsWhereThereAreTooFewPlaces) {
    limit_.max_concurrency = 1;
    std::map<std::string, int> turns;
    std::string has;
    for (int n = 0; n < 400; ++n) {
        now_ += milliseconds(100);
        for (const std::string owner : {"a", "b", "c"}) {
            if (Ask(owner, 0, 5).places == 0) continue;
            if (has != owner) ++turns[owner];
            has = owner;
        }
    }
    for (const auto& [owner, count] : turns) EXPECT_GE(count, 8) << owner;
    EXPECT_EQ(turns.size(), 3U);
}

TEST_F(LimitShareTest, ALoweredLimitIsDividedAgain) {
    Ask("a", 0, 20);
    Ask("b", 0, 20);
    Ask("a", 0, 20);
    Ask("b", 0, 20);
    limit_.max_concurrency = 4;
    // The sum of both is above the limit until the second has answered.
    book_ = Rebalance(book_, limit_, {.owner = "a", .waiting = 20}, now_, kLease).book;
    EXPECT_EQ(Ask("b", 0, 20).places, 2);
    EXPECT_EQ(Ask("a", 0, 20).places, 2);
}

TEST_F(LimitShareTest, WhatWasNeverUsedOfARateMovesAtOnce) {
    limit_ = {.rate = Rate{.count = 100, .per = minutes(60)}};
    EXPECT_EQ(Ask("a", 0, 1).starts, 100);
    Ask("b", 0, 1);
    EXPECT_EQ(Ask("a", 0, 0, {{now_ - minutes(5), 10}}).starts, 10);
    EXPECT_EQ(Ask("b", 0, 1).starts, 90);
}

TEST_F(LimitShareTest, WhatWasUsedOfARateCoolsForAPeriod) {
    limit_ = {.rate = Rate{.count = 4, .per = seconds(60)}};
    std::vector<StartsAt> used;
    for (int n = 0; n < 4; ++n) used.push_back({now_ + seconds(15) * n, 1});
    now_ += seconds(50);
    EXPECT_EQ(Ask("a", 0, 1, used).starts, 4);
    EXPECT_EQ(Ask("b", 0, 1).starts, 0);
    const ShareOutcome gives = Ask("a", 0, 1, used);
    EXPECT_EQ(gives.starts, 2);
    EXPECT_EQ(std::ranges::count(gives.given, 1), 2) << "every other start goes along";
    std::int64_t has = 0;
    for (int n = 0; n < 70; ++n, now_ += seconds(1)) {
        std::vector<StartsAt> kept;
        std::int64_t free = 0;
        for (std::size_t one = 0; one < used.size(); ++one) {
            const bool old = used[one].at + seconds(60) <= now_;
            if (gives.given[one] > 0) free += old ? 1 : 0;
            if (gives.given[one] == 0 && !old) kept.push_back(used[one]);
        }
        EXPECT_EQ(Ask("a", 0, 1, kept).starts, 2);
        has = Ask("b", 0, 1).starts;
        EXPECT_EQ(has, free) << n;
    }
    EXPECT_EQ(has, 2);
}

TEST_F(LimitShareTest, TheStartsOfADeadNodeCool) {
    limit_ = {.rate = Rate{.count = 10, .per = minutes(1)}};
    Ask("a", 0, 1, {{now_, 6}});
    now_ += kLease;
    std::int64_t has = Ask("b", 0, 1).starts;
    EXPECT_GT(has, 0) << "what was certainly not used";
    for (int n = 0; n < 58; ++n, now_ += seconds(1)) {
        has = Ask("b", 0, 1).starts;
        EXPECT_LE(has, 4) << n;
    }
    now_ += seconds(2);
    EXPECT_EQ(Ask("b", 0, 1).starts, 10);
}

TEST_F(LimitShareTest, ThePartsOfABurstAreNeverMoreThanTheBurst) {
    const Rate rate{.count = 7, .per = seconds(1), .burst = 4};
    for (std::int64_t a = 0; a <= 7; ++a) {
        const std::int64_t one = RateOfShare(rate, a).burst - 1;
        const std::int64_t other = RateOfShare(rate, 7 - a).burst - 1;
        EXPECT_LE(one + other, 3) << a;
    }
    EXPECT_EQ(RateOfShare(rate, 7), rate);
    EXPECT_EQ(RateOfShare(rate, 0).count, 1) << "nothing may start with it";
}

}  // namespace
}  // namespace ksana::model
