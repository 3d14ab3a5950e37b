#include "ksana/store/statistics.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ksana::store {
namespace {

using model::RunState;

TEST(Statistics, OfNothing) {
    const JobStatistics nothing = Summarise({});
    EXPECT_EQ(nothing, JobStatistics{});
    EXPECT_FALSE(nothing.success_rate);
}

TEST(Statistics, NearestRank) {
    std::vector<RunSample> samples;
    for (int i = 100; i >= 1; --i) samples.push_back({RunState::kSucceeded, Duration(i)});
    JobStatistics statistics = Summarise(samples);
    EXPECT_EQ(statistics.p50, Duration(50));
    EXPECT_EQ(statistics.p90, Duration(90));
    EXPECT_EQ(statistics.p99, Duration(99));
    EXPECT_EQ(statistics.longest, Duration(100));
    EXPECT_EQ(statistics.average, Duration(50));
    statistics = Summarise(std::vector<RunSample>{{RunState::kFailed, Duration(7)}});
    EXPECT_EQ(statistics.p50, Duration(7));
    EXPECT_EQ(statistics.p99, Duration(7));
}

TEST(Statistics, CountsByOutcome) {
    const std::vector<RunSample> samples = {{RunState::kSucceeded, Duration(1)},
                                            {RunState::kFailed, Duration(1)},
                                            {RunState::kTimedOut, Duration(1)},
                                            {RunState::kResolved, Duration(1)},
                                            {RunState::kCancelled, {}},
                                            {RunState::kSkipped, {}},
                                            {RunState::kMissed, {}}};
    const JobStatistics statistics = Summarise(samples);
    EXPECT_EQ(statistics.runs, 4);
    EXPECT_EQ(statistics.succeeded, 1);
    EXPECT_EQ(statistics.failed, 3);
    EXPECT_EQ(statistics.timed_out, 1) << "of the failed ones";
    EXPECT_EQ(statistics.cancelled, 1);
    EXPECT_EQ(statistics.skipped, 1);
    EXPECT_EQ(statistics.missed, 1);
    EXPECT_DOUBLE_EQ(*statistics.success_rate, 0.25);
    EXPECT_FALSE(statistics.sampled);
    EXPECT_TRUE(Summarise(std::vector<RunSample>(kMaxStatisticsRuns)).sampled);
}

}  // namespace
}  // namespace ksana::store
