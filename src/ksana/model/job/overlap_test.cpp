#include "ksana/model/job/overlap.hpp"

#include <gtest/gtest.h>

namespace ksana::model {
namespace {

TEST(DecideOverlap, AnIdleJobAlwaysStarts) {
    for (std::size_t i = 0; i < kEnumCount<OverlapPolicy>; ++i) {
        EXPECT_EQ(DecideOverlap(static_cast<OverlapPolicy>(i), 0, 0), OverlapVerdict::kStart);
    }
}

TEST(DecideOverlap, ABusyJobFollowsItsPolicy) {
    EXPECT_EQ(DecideOverlap(OverlapPolicy::kSkip, 1, 0), OverlapVerdict::kSkip);
    EXPECT_EQ(DecideOverlap(OverlapPolicy::kAllow, 7, 3), OverlapVerdict::kStart);
    EXPECT_EQ(DecideOverlap(OverlapPolicy::kQueueOne, 1, 0), OverlapVerdict::kQueue);
    EXPECT_EQ(DecideOverlap(OverlapPolicy::kQueueOne, 1, 1), OverlapVerdict::kSkip);
    EXPECT_EQ(DecideOverlap(OverlapPolicy::kQueueAll, 1, 5), OverlapVerdict::kQueue);
    EXPECT_EQ(DecideOverlap(OverlapPolicy::kQueueAll, 1, kMaxQueuedRuns), OverlapVerdict::kSkip);
    EXPECT_EQ(DecideOverlap(OverlapPolicy::kCancelOther, 1, 0), OverlapVerdict::kCancelOthers);
}

TEST(OverlapTest, WhatWaitsIsBounded) {
    EXPECT_FALSE(ExceedsQueueLimit(OverlapPolicy::kSkip, 0));
    EXPECT_TRUE(ExceedsQueueLimit(OverlapPolicy::kSkip, 1));
    EXPECT_FALSE(ExceedsQueueLimit(OverlapPolicy::kQueueOne, 1));
    EXPECT_TRUE(ExceedsQueueLimit(OverlapPolicy::kQueueOne, 2));
    for (const auto policy : {OverlapPolicy::kQueueAll, OverlapPolicy::kCancelOther}) {
        EXPECT_FALSE(ExceedsQueueLimit(policy, kMaxQueuedRuns));
        EXPECT_TRUE(ExceedsQueueLimit(policy, kMaxQueuedRuns + 1));
    }
    EXPECT_FALSE(ExceedsQueueLimit(OverlapPolicy::kAllow, 1'000'000));
}

}  // namespace
}  // namespace ksana::model
