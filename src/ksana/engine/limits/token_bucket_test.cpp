#include "ksana/engine/limits/token_bucket.hpp"

#include <gtest/gtest.h>

namespace ksana::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Takes `n` tokens, each as soon as it is available. Returns when the last was taken.
SteadyPoint TakeAll(TokenBucket& bucket, SteadyPoint now, int n) {
    for (int i = 0; i < n; ++i) {
        now = std::max(now, bucket.NextAt());
        bucket.Take(now);
    }
    return now;
}

TEST(TokenBucketTest, TokensComeEvenly) {
    TokenBucket bucket({.count = 5, .per = seconds(1)});
    const SteadyPoint start(seconds(100));
    EXPECT_LE(bucket.NextAt(), start);
    bucket.Take(start);
    EXPECT_EQ(bucket.NextAt(), start + milliseconds(200));
    EXPECT_EQ(TakeAll(bucket, start, 5), start + seconds(1));
}

TEST(TokenBucketTest, ABurstIsSavedUpAndNotMore) {
    TokenBucket bucket({.count = 60, .per = std::chrono::minutes(1), .burst = 3});
    const SteadyPoint start(seconds(1000));
    EXPECT_EQ(TakeAll(bucket, start, 3), start);
    EXPECT_EQ(bucket.NextAt(), start + seconds(1));
    const SteadyPoint later = start + std::chrono::hours(5);
    EXPECT_EQ(TakeAll(bucket, later, 3), later);
    EXPECT_GT(bucket.NextAt(), later);
}

TEST(TokenBucketTest, NoWindowHasMoreThanItsCountHoweverOddTheRate) {
    for (const std::int64_t count : {1, 3, 7, 999, 1'000'000}) {
        TokenBucket bucket({.count = count, .per = seconds(1)});
        const SteadyPoint start(seconds(5));
        const int many = static_cast<int>(std::min<std::int64_t>(count, 5000));
        const SteadyPoint first = TakeAll(bucket, start, 1);
        EXPECT_GE(TakeAll(bucket, start, many) - first,
                  many * seconds(1) / count - milliseconds(10))
            << count;
    }
}

TEST(TokenBucketTest, WhatWasTakenStaysTakenWhenTheRateChanges) {
    TokenBucket bucket({.count = 1, .per = seconds(10)});
    const SteadyPoint start(seconds(50));
    bucket.Take(start);
    bucket.Reshape({.count = 10, .per = seconds(1)});
    EXPECT_EQ(bucket.NextAt(), start + seconds(10));
    bucket.Take(start + seconds(10));
    EXPECT_EQ(bucket.NextAt(), start + seconds(10) + milliseconds(100));
}

}  // namespace
}  // namespace ksana::engine
