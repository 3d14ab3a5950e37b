#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/time/fake_clock.hpp"
#include "ksana/ksana.hpp"

// For tests of jobs: docs/library.md#testing-jobs.

namespace ksana::testing {

using ksana::FakeClock;

// A run that has ended, or a fire that was skipped.
struct Fire {
    std::int64_t fire_time = 0;  // UTC epoch milliseconds
    JobResult result = JobResult::kSuccess;
    std::int64_t duration_ms = 0;
    std::string error;
};

// A scheduler whose time stands still until the test advances it, and which has no threads: jobs
// run inside Advance and RunOnce, on the thread of the test, one after the other and in the order
// of their times. So a test of a month takes milliseconds and always gives the same result.
//
//   ksana::testing::TestScheduler test(context);
//   ASSERT_TRUE(test.Start());
//   test.Advance(24h);
//   EXPECT_EQ(test.FiresOf("clean-expired-tokens").size(), 1);
//
// A run keeps its lock however long it takes. A job must not block its thread to wait for time:
// co_await context.Sleep does not; context.SleepOnThread returns at once here. Used by one thread.
class TestScheduler {
  public:
    // Without a lock in the options, locks are kept in memory. `threads`, `clock` and
    // `listener` are those of the kit; a listener of the options is told as well. Stores and HTTP
    // need threads and are not available. The clock starts at 2026-01-01T00:00:00Z.
    explicit TestScheduler(Context& context, SchedulerOptions options = {});
    ~TestScheduler();

    Scheduler& scheduler() { return *scheduler_; }
    FakeClock& clock() { return clock_; }

    Result<void> Start() { return scheduler_->Start(); }
    // Lets time pass, and runs everything that is due meanwhile at its time.
    void Advance(Duration by);
    // Runs what is due now.
    void RunDue() { Advance(Duration::zero()); }

    // Triggers one job, lets time pass until its run has ended, at most `limit`, and returns how it
    // ended. kDeadlineExceeded: it did not end in time.
    Result<Fire> RunOnce(std::string_view id, Parameters parameters = {},
                         Duration limit = std::chrono::hours(1));

    // The ended runs and skipped fires of a job since the start, oldest first.
    std::vector<Fire> FiresOf(std::string_view id) const;
    // The fire times of the runs that were not skipped.
    std::vector<std::int64_t> RunTimesOf(std::string_view id) const;
    // The state of one job; none: there is no such job.
    std::optional<JobStatus> StatusOf(std::string_view id) const;

  private:
    class Recorder;

    void RunUntil(SteadyPoint until);

    FakeClock clock_;
    std::unique_ptr<Recorder> recorder_;
    std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace ksana::testing
