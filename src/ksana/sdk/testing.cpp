#include "ksana/testing.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "ksana/sdk/scheduler_core.hpp"

namespace ksana::testing {

// Keeps what it hears, and passes it on.
class TestScheduler::Recorder final : public JobExecutionListener {
  public:
    explicit Recorder(JobExecutionListener* next) : next_(next) {}

    void OnStart(const std::string& id, std::int64_t fire_time) override {
        if (next_ != nullptr) next_->OnStart(id, fire_time);
    }
    void OnSuccess(const std::string& id, std::int64_t fire_time,
                   std::int64_t duration_ms) override {
        fires[id].push_back({.fire_time = fire_time,
                             .result = JobResult::kSuccess,
                             .duration_ms = duration_ms,
                             .error = {}});
        if (next_ != nullptr) next_->OnSuccess(id, fire_time, duration_ms);
    }
    void OnFailure(const std::string& id, std::int64_t fire_time, std::int64_t duration_ms,
                   const std::string& error) override {
        fires[id].push_back({.fire_time = fire_time,
                             .result = JobResult::kFailed,
                             .duration_ms = duration_ms,
                             .error = error});
        if (next_ != nullptr) next_->OnFailure(id, fire_time, duration_ms, error);
    }
    void OnSkipped(const std::string& id, std::int64_t fire_time) override {
        fires[id].push_back(
            {.fire_time = fire_time, .result = JobResult::kSkipped, .duration_ms = 0, .error = {}});
        if (next_ != nullptr) next_->OnSkipped(id, fire_time);
    }

    std::map<std::string, std::vector<Fire>, std::less<>> fires;

  private:
    JobExecutionListener* const next_;
};

TestScheduler::TestScheduler(Context& context, SchedulerOptions options) {
    JobExecutionListener* const listener =
        options.listener != nullptr ? options.listener : context.Find<JobExecutionListener>();
    recorder_ = std::make_unique<Recorder>(listener);
    options.listener = recorder_.get();
    options.clock = &clock_;
    options.threads = detail::kNoThreads;
    options.shutdown_timeout = {};
    if (options.lock.empty()) options.lock = "memory:";
    scheduler_ = std::make_unique<Scheduler>(context, std::move(options));
}

TestScheduler::~TestScheduler() = default;

void TestScheduler::RunUntil(SteadyPoint until) {
    detail::SchedulerCore& core = detail::SchedulerAccess::CoreOf(*scheduler_);
    core.LookAtClock();
    for (;;) {
        core.threads().RunReady();
        const auto next = core.threads().NextTime();
        if (!next || *next > until) break;
        clock_.Advance(std::chrono::ceil<Duration>(*next - clock_.SteadyNow()));
    }
}

void TestScheduler::Advance(Duration by) {
    const SteadyPoint until = clock_.SteadyNow() + by;
    RunUntil(until);
    clock_.Advance(std::chrono::ceil<Duration>(until - clock_.SteadyNow()));
    RunUntil(until);
}

Result<Fire> TestScheduler::RunOnce(std::string_view id, Parameters parameters, Duration limit) {
    const std::size_t before = FiresOf(id).size();
    KSANA_TRY_VOID(scheduler_->Trigger(id, std::move(parameters)));
    const SteadyPoint until = clock_.SteadyNow() + limit;
    detail::SchedulerCore& core = detail::SchedulerAccess::CoreOf(*scheduler_);
    for (;;) {
        core.threads().RunReady();
        const std::vector<Fire> fires = FiresOf(id);
        if (fires.size() > before) return fires[before];
        const auto next = core.threads().NextTime();
        if (!next || *next > until) break;
        clock_.Advance(std::chrono::ceil<Duration>(*next - clock_.SteadyNow()));
    }
    return Error(Code::kDeadlineExceeded, "the run did not end");
}

std::vector<Fire> TestScheduler::FiresOf(std::string_view id) const {
    const auto found = recorder_->fires.find(id);
    return found == recorder_->fires.end() ? std::vector<Fire>() : found->second;
}

std::vector<std::int64_t> TestScheduler::RunTimesOf(std::string_view id) const {
    std::vector<std::int64_t> times;
    for (const Fire& fire : FiresOf(id)) {
        if (fire.result != JobResult::kSkipped) times.push_back(fire.fire_time);
    }
    return times;
}

std::optional<JobStatus> TestScheduler::StatusOf(std::string_view id) const {
    const auto all = scheduler_->Snapshot();
    const auto found = std::ranges::find(all, id, &JobStatus::id);
    return found == all.end() ? std::nullopt : std::optional(*found);
}

}  // namespace ksana::testing
