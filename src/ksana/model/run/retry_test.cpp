#include "ksana/model/run/retry.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace ksana::model {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::optional<Duration> Delay(const RetryPolicy& policy, int failures) {
    return RetryDelay(policy, failures, std::nullopt, "run");
}

TEST(RetryDelay, NoneNeverRetries) {
    EXPECT_FALSE(Delay({.strategy = RetryStrategy::kNone, .max_retries = 9}, 1));
}

// K-08
TEST(RetryDelay, FixedWaitsTheSameEachTime) {
    const RetryPolicy policy{.max_retries = 2, .interval = seconds(5)};
    EXPECT_EQ(Delay(policy, 1), seconds(5));
    EXPECT_EQ(Delay(policy, 2), seconds(5));
    EXPECT_FALSE(Delay(policy, 3));
}

// T-07: the last interval repeats.
TEST(RetryDelay, SequenceRepeatsItsLast) {
    const RetryPolicy policy{.strategy = RetryStrategy::kSequence,
                             .max_retries = 5,
                             .sequence = {seconds(1), seconds(10)}};
    EXPECT_EQ(Delay(policy, 1), seconds(1));
    EXPECT_EQ(Delay(policy, 2), seconds(10));
    EXPECT_EQ(Delay(policy, 5), seconds(10));
    EXPECT_FALSE(Delay(policy, 6));
}

// D-08: base × 2^n.
TEST(RetryDelay, ExponentialDoublesUpToItsCap) {
    const RetryPolicy policy{.strategy = RetryStrategy::kExponential,
                             .max_retries = 1'000,
                             .interval = seconds(3),
                             .max_interval = hours(1)};
    EXPECT_EQ(Delay(policy, 1), seconds(3));
    EXPECT_EQ(Delay(policy, 2), seconds(6));
    EXPECT_EQ(Delay(policy, 5), seconds(48));
    EXPECT_EQ(Delay(policy, 1'000), hours(1)) << "no overflow";
}

TEST(RetryDelay, JitterOnlyAddsIsRepeatableAndSpreads) {
    const RetryPolicy policy{.max_retries = 3, .interval = seconds(10), .jitter = 0.5};
    std::map<Duration, int> per_second;
    for (int i = 0; i < 2'000; ++i) {
        const std::string run = "run-" + std::to_string(i);
        const auto delay = RetryDelay(policy, 1, std::nullopt, run);
        EXPECT_EQ(delay, RetryDelay(policy, 1, std::nullopt, run));
        EXPECT_GE(*delay, seconds(10));
        EXPECT_LE(*delay, seconds(15));
        ++per_second[std::chrono::floor<milliseconds>(*delay) / 100];
    }
    for (const auto& [slot, count] : per_second) EXPECT_LT(count, 100) << "a wave of retries";
}

TEST(RetryDelay, RetryAfterMakesItLongerButNotEndless) {
    const RetryPolicy policy{.max_retries = 3, .interval = seconds(10)};
    EXPECT_EQ(RetryDelay(policy, 1, seconds(60), "r"), seconds(60));
    EXPECT_EQ(RetryDelay(policy, 1, seconds(1), "r"), seconds(10));
    EXPECT_EQ(RetryDelay(policy, 1, hours(24 * 365), "r"), kMaxRetryAfter);
}

}  // namespace
}  // namespace ksana::model
