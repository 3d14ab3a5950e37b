#include "ksana/model/job/effective_policy.hpp"

#include <gtest/gtest.h>

namespace ksana::model {
namespace {

using std::chrono::seconds;

// K-08: the job's value, else the type's, else the server's.
TEST(EffectivePolicy, FallsBackStepByStep) {
    PolicyDefaults defaults;
    EXPECT_EQ(EffectivePolicy(nullptr, nullptr, defaults).timeout, seconds(10));
    EXPECT_EQ(EffectivePolicy(nullptr, nullptr, defaults).retry.max_retries, 3);

    RunType type;
    type.timeout = seconds(60);
    type.retry = RetryPolicy{.max_retries = 7};
    type.need_manual = true;
    type.callbacks.success.url = "http://x/";
    Job job;
    EXPECT_EQ(EffectivePolicy(&job, &type, defaults).timeout, seconds(60));
    EXPECT_EQ(EffectivePolicy(&job, &type, defaults).retry.max_retries, 7);
    EXPECT_TRUE(EffectivePolicy(&job, &type, defaults).need_manual);
    EXPECT_TRUE(EffectivePolicy(&job, &type, defaults).success_callback);
    EXPECT_FALSE(EffectivePolicy(&job, &type, defaults).error_callback);

    job.timeout = seconds(1);
    job.retry = RetryPolicy{.strategy = RetryStrategy::kNone};
    EXPECT_EQ(EffectivePolicy(&job, &type, defaults).timeout, seconds(1));
    EXPECT_EQ(EffectivePolicy(&job, &type, defaults).retry.strategy, RetryStrategy::kNone);

    // Settings that only a job has. A submitted task may overlap and has no stop grace (T-05).
    job.overlap = OverlapPolicy::kQueueOne;
    job.run_log = RunLog::kTrigger;
    EXPECT_EQ(EffectivePolicy(&job, &type, defaults).overlap, OverlapPolicy::kQueueOne);
    EXPECT_EQ(EffectivePolicy(&job, &type, defaults).run_log, RunLog::kTrigger);
    EXPECT_EQ(EffectivePolicy(&job, &type, defaults).stop_grace, seconds(30));
    EXPECT_EQ(EffectivePolicy(nullptr, &type, defaults).overlap, OverlapPolicy::kAllow);
    EXPECT_EQ(EffectivePolicy(nullptr, &type, defaults).stop_grace, seconds(0));
}

}  // namespace
}  // namespace ksana::model
