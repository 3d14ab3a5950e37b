#include "ksana/engine/planner.hpp"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "ksana/base/log.hpp"

namespace ksana::engine {
namespace {

// Before those that wait are counted again, when there were too many.
constexpr Duration kFullPause = std::chrono::seconds(1);

}  // namespace

// Counting costs as much as there is to count, so it is done rarely: when the limit could have been
// reached.
Result<bool> Planner::IsFull() {
    if (options_.max_waiting == 0) return false;
    if (!full_ && unseen_ < options_.max_waiting / 4) return false;
    KSANA_TRY(const std::vector<store::QueueDepth> depths, store_.runs().Depths());
    std::int64_t count = 0;
    for (const store::QueueDepth& depth : depths) {
        if (depth.state == model::RunState::kQueued) count += depth.count;
    }
    const bool full = count >= static_cast<std::int64_t>(options_.max_waiting);
    if (full != full_) {
        Log(full ? LogLevel::kWarn : LogLevel::kInfo,
            full ? "too many runs wait; nothing is planned until there are fewer"
                 : "planning goes on",
            {{"waiting", count}});
    }
    full_ = full;
    unseen_ = 0;
    return full;
}

Result<Planner::Answer> Planner::RunOnce(const std::optional<store::StartAs>& start) {
    KSANA_TRY(const bool full, IsFull());
    if (full) {
        Answer answer;
        answer.step.NotAfter(kFullPause);
        answer.full = true;
        return answer;
    }
    // Whoever starts a run needs its job; it is at hand here, and reading it again would cost more
    // than the copy.
    std::unordered_map<std::string, std::shared_ptr<const model::Job>> jobs;
    const bool keep = start && start->limit > 0;
    KSANA_TRY(
        store::Planned planned,
        store_.jobs().PlanDue(
            {.now = {}, .look_ahead = options_.look_ahead, .limit = options_.batch, .start = start},
            [&](const model::Job& job, TimePoint now) {
                store::JobPlan plan = plans_.Plan(job, now);
                if (keep && !plan.runs.empty()) {
                    jobs.insert_or_assign(job.id, std::make_shared<const model::Job>(job));
                }
                return plan;
            }));
    Answer answer{.step = {.next = {}, .within = {}, .again = planned.more},
                  .jobs = planned.jobs,
                  .runs = planned.runs,
                  .started = {},
                  .full = false};
    unseen_ += planned.runs - std::min(planned.runs, planned.skipped + planned.started.size());
    answer.started.reserve(planned.started.size());
    for (model::Run& run : planned.started) {
        const auto job = jobs.find(run.job_id);
        answer.started.push_back(
            {.run = std::move(run), .job = job == jobs.end() ? nullptr : job->second});
    }
    return answer;
}

Result<std::optional<TimePoint>> Planner::NextFire() {
    KSANA_TRY(const store::WakeTimes times, store_.runs().NextWake());
    if (!times.plan) return std::optional<TimePoint>();
    return std::optional(OnThisNode(*times.plan - options_.look_ahead, times.now, clock_));
}

}  // namespace ksana::engine
