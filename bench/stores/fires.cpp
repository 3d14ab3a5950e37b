#include "stores/fires.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "ksana/base/error/check.hpp"

namespace ksana::bench {
namespace {

using model::Job;
using model::Run;

constexpr std::size_t kJobs = 10'000;
constexpr Duration kPeriod = std::chrono::seconds(1);
// Number of jobs that are due at once if a commit takes about 3 ms.
constexpr std::size_t kDue = 28;
constexpr Duration kStep = kPeriod / kJobs;
constexpr TimePoint kStart{std::chrono::hours(24 * 365 * 56)};

std::vector<store::JobWrite> MakeJobs() {
    std::vector<store::JobWrite> writes(kJobs);
    for (std::size_t i = 0; i < kJobs; ++i) {
        Job& job = writes[i].job;
        job.id = fmt::format("every-{}", i);
        job.name = job.id;
        job.action = model::HttpAction{.url = "http://127.0.0.1:9/call"};
        job.schedule.kind = schedule::ScheduleKind::kEvery;
        job.schedule.every = kPeriod;
        job.state.planned_until = kStart;
        job.state.next_run_at = kStart + kPeriod + static_cast<std::int64_t>(i) * kStep;
    }
    return writes;
}

store::JobPlan PlanOf(const Job& job, TimePoint now) {
    store::JobPlan plan{.planned_until = now, .next_run_at = *job.state.next_run_at + kPeriod};
    Run& run = plan.runs.emplace_back();
    run.kind = model::ActionKind::kHttp;
    run.trigger = model::RunTrigger::kFire;
    run.nominal_at = job.state.next_run_at;
    run.status.ready_at = *job.state.next_run_at;
    run.policy.overlap = job.overlap;
    return plan;
}

}  // namespace

FireBench::FireBench(store::Store& store) : store_(store), now_(kStart + kPeriod) {
    const auto written = store_.jobs().Write({.now = kStart, .writes = MakeJobs()});
    KSANA_CHECK(written.has_value(), "write");
    for (const auto& job : *written) KSANA_CHECK(job.has_value(), job.error().Describe());
}

void FireBench::Run(std::size_t fires) {
    const store::StartAs start{.owner = "bench", .kind = model::ActionKind::kHttp};
    for (std::size_t done = 0; done < fires; done += kDue) {
        now_ += static_cast<std::int64_t>(kDue) * kStep;
        auto planned = store_.jobs().PlanDue({.now = now_, .limit = kDue, .start = start}, PlanOf);
        KSANA_CHECK(planned.has_value() && planned->started.size() == kDue, "plan");
        std::vector<model::RunEvent> events;
        for (const model::Run& run : planned->started) {
            events.push_back(
                {run.id, {.kind = model::EventKind::kSuccess, .exec_id = run.status.exec_id}});
        }
        const auto applied = store_.runs().Apply(std::move(events), now_ + kStep);
        KSANA_CHECK(applied.has_value(), "report");
    }
}

double CpuOfThread(const std::string& name) {
    double seconds = 0;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string comm;
        std::getline(std::ifstream(thread.path() / "comm"), comm);
        double nanos = 0;
        std::ifstream(thread.path() / "schedstat") >> nanos;
        if (comm == name) seconds += nanos / 1e9;
    }
    return seconds;
}

}  // namespace ksana::bench
