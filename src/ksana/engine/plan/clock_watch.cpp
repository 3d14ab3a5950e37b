#include "ksana/engine/plan/clock_watch.hpp"

#include "ksana/base/log/log.hpp"
#include "ksana/base/time/time_text.hpp"

namespace ksana::engine {

namespace {

// A settings document whose updated_at is the latest time that the store has seen.
constexpr const char* kNoteKey = "engine.clock";
// A forward jump from which the time is noted at once.
constexpr Duration kNotedJump = std::chrono::minutes(1);

}  // namespace

Result<ClockWatch::Answer> ClockWatch::RunOnce() {
    Answer answer;
    KSANA_TRY_VOID(LookAtClock());
    if (looking_) KSANA_TRY_VOID(LookAtJobs(answer));
    answer.step.NotAfter(looking_ ? options_.pause : options_.rest);
    return answer;
}

Result<void> ClockWatch::LookAtClock() {
    const Duration jump = jumps_.Take();
    const TimePoint wall = clock_.Now();
    const bool acted_ahead = TimePoint(Duration(latest_plan_)) > wall + kFar;
    if (jump <= -kFar || acted_ahead) {
        latest_plan_ = wall.time_since_epoch().count();
        looking_ = true;
        cursor_.clear();
    }
    if (!noted_at_) {
        KSANA_TRY(const TimePoint now, store_.Now());
        const auto noted = store_.settings().Get(kNoteKey);
        if (!noted && noted.error().code != Code::kNotFound) return noted.error();
        if (noted && noted->updated_at > now + kFar) looking_ = true;
    }
    // Keeps the old note during a pass over the jobs, so that the pass is repeated after a crash.
    if (looking_) return {};
    const bool old = !noted_at_ || clock_.SteadyNow() - *noted_at_ >= options_.note;
    return old || jump >= kNotedJump ? Note() : Result<void>();
}

void ClockWatch::Planned(TimePoint time) {
    const std::int64_t micros = time.time_since_epoch().count();
    std::int64_t latest = latest_plan_;
    while (latest < micros && !latest_plan_.compare_exchange_weak(latest, micros)) {
    }
}

Result<void> ClockWatch::Note() {
    KSANA_TRY([[maybe_unused]] const model::Document note,
              store_.settings().Put({.key = kNoteKey, .value = "{}"}));
    noted_at_ = clock_.SteadyNow();
    return {};
}

Result<void> ClockWatch::LookAtJobs(Answer& answer) {
    KSANA_TRY(const TimePoint now, store_.Now());
    store::JobQuery query;
    query.filter.enabled = true;
    query.limit = options_.page;
    query.cursor = cursor_;
    KSANA_TRY(store::Page<model::Job> page, store_.jobs().List(query));
    for (model::Job& job : page.items) {
        if (!job.state.planned_until || *job.state.planned_until <= now + kFar) continue;
        KSANA_TRY(const bool back, BringBack(std::move(job), now));
        if (back) ++answer.brought_back;
    }
    cursor_ = page.next;
    looking_ = !cursor_.empty();
    return looking_ ? Result<void>() : Note();
}

// Returns false if another node was faster or the job is gone.
Result<bool> ClockWatch::BringBack(model::Job job, TimePoint now) {
    const TimePoint was = *job.state.planned_until;
    model::Job present = job;
    present.state.planned_until = now;
    const store::JobPlan next = plans_.Plan(present, now);
    store::JobPlan plan{.runs = {},
                        .ranges = {},
                        .planned_until = now,
                        .next_run_at = next.next_run_at,
                        .tally = {}};
    const std::string id = job.id;
    const std::int64_t version = job.state.version;
    std::vector<store::JobWrite> writes;
    writes.push_back({.job = std::move(job),
                      .mode = store::WriteMode::kReplace,
                      .expected_version = version,
                      .plan = std::move(plan)});
    KSANA_TRY(const auto written, store_.jobs().Write({.now = now, .writes = std::move(writes)}));
    if (!written.at(0)) {
        if (written.at(0).error().code == Code::kConflict) return false;
        if (written.at(0).error().code == Code::kNotFound) return false;
        return written.at(0).error();
    }
    Log(LogLevel::kWarn, "the clock was far ahead; the job fires by the present time again",
        {{"job_id", id}, {"was_planned_until", FormatTime(was)}});
    return true;
}

}  // namespace ksana::engine
