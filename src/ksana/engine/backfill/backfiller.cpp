#include "ksana/engine/backfill/backfiller.hpp"

#include <algorithm>
#include <set>

#include "ksana/base/log/log.hpp"

namespace ksana::engine {
namespace {

using model::Backfill;
using model::BackfillState;
using model::Run;

// The age from which a mark without a state is an orphan: its writer crashed before it stored the
// state.
constexpr Duration kOrphanAge = std::chrono::minutes(10);
// The number of fires examined in one step. Fires that already have a run take no time from the
// rate.
constexpr std::size_t kWindow = 500;
constexpr std::size_t kMaxBatch = 200;
constexpr std::size_t kJobsPage = 500;

Duration IntervalOf(const Backfill& backfill) {
    return std::chrono::duration_cast<Duration>(std::chrono::minutes(1)) / backfill.per_minute;
}

// About one second's worth of runs.
std::size_t BatchOf(const Backfill& backfill) {
    return std::clamp<std::size_t>(static_cast<std::size_t>(backfill.per_minute) / 60, 1,
                                   kMaxBatch);
}

store::RunFilter RunsOf(const Uuid& backfill, model::RunStates states) {
    store::RunFilter filter;
    filter.states = states;
    filter.parent = backfill;
    return filter;
}

// Returns whether a retry would fail the same way.
bool IsHopeless(const Error& error) {
    return error.code == Code::kNotFound || error.code == Code::kInvalidArgument;
}

Run RunFor(const Backfill& backfill, const Run& basis, TimePoint fire, TimePoint now) {
    Run run = basis;
    run.trigger = model::RunTrigger::kBackfill;
    run.parent = backfill.id;
    run.nominal_at = fire;
    run.status.ready_at = now;
    if (!backfill.parameters.empty()) run.payload = backfill.parameters;
    // With overlap "queue", a run of the backfill also waits for a run of the schedule and is never
    // dropped for it. If the job's own policy queues nothing, the reaper unblocks the run within
    // seconds.
    run.policy.overlap = model::OverlapPolicy::kQueueAll;
    run.policy.ignores_overlap = backfill.overlap == model::BackfillOverlap::kAllow;
    return run;
}

}  // namespace

Result<void> CancelUnstarted(store::RunStore& runs, const Uuid& backfill) {
    store::RunQuery query;
    query.filter = RunsOf(backfill, model::SetOf(model::RunState::kScheduled) |
                                        model::SetOf(model::RunState::kQueued));
    query.limit = kJobsPage;
    do {
        KSANA_TRY(const store::Page<Run> page, runs.List(query));
        std::vector<model::RunEvent> events;
        for (const Run& run : page.items) {
            if (run.status.attempt > 0) continue;  // between two attempts, so it has started
            events.push_back({run.id, {.kind = model::EventKind::kCancel}});
        }
        if (!events.empty()) {
            KSANA_TRY([[maybe_unused]] const auto applied, runs.Apply(std::move(events)));
        }
        query.cursor = page.next;
    } while (!query.cursor.empty());
    return {};
}

Result<Backfill> Counted(store::RunStore& runs, Backfill backfill) {
    if (backfill.state == BackfillState::kFinished) return backfill;
    const model::RunStates succeeded = model::SetOf(model::RunState::kSucceeded);
    const auto failed =
        static_cast<model::RunStates>(model::kAllStates & ~model::kUnfinishedStates & ~succeeded);
    KSANA_TRY(backfill.succeeded, runs.Count(RunsOf(backfill.id, succeeded), backfill.count));
    KSANA_TRY(backfill.failed, runs.Count(RunsOf(backfill.id, failed), backfill.count));
    return backfill;
}

bool Backfiller::Hint(store::Topics topics) const {
    return topics.Has(store::Topic::kDocuments) || awaits_runs_;
}

Result<Step> Backfiller::RunOnce() {
    Step step;
    KSANA_TRY(const auto marks, repository_.Marked(kMaxActive + kJobsPage));
    if (marks.empty()) {
        awaits_runs_ = false;
        fires_.clear();
        return step;
    }
    // Set before reading, so that a run that ends from here on wakes the loop again.
    awaits_runs_ = true;
    KSANA_TRY(const TimePoint now, store_.Now());
    waiting_ = false;
    for (const BackfillRepository::Mark& mark : marks) KSANA_TRY_VOID(Advance(mark, now, step));
    awaits_runs_ = waiting_;
    return step;
}

Result<void> Backfiller::Advance(const BackfillRepository::Mark& mark, TimePoint now, Step& step) {
    auto kept = repository_.Get(mark.id);
    if (!kept) {
        if (!IsHopeless(kept.error())) return kept.error();
        return mark.since + kOrphanAge < now ? repository_.Unmark(mark.id) : Result<void>();
    }
    Result<void> done;
    if (kept->backfill.state == BackfillState::kRunning) {
        done = Go(*kept, now, step);
    } else if (kept->backfill.state == BackfillState::kCancelled && !kept->backfill.swept) {
        // Cancels once more: a step may have been in flight during the cancellation.
        KSANA_TRY_VOID(CancelUnstarted(store_.runs(), mark.id));
        kept->backfill.swept = true;
        done = repository_.Put(*kept);
        step.again = true;
    } else {
        fires_.erase(mark.id);
        return repository_.Unmark(mark.id);
    }
    if (done || done.error().code != Code::kConflict) return done;
    step.again = true;  // another node or caller changed it: look again
    return {};
}

Result<void> Backfiller::Go(BackfillRepository::Kept& kept, TimePoint now, Step& step) {
    Backfill& backfill = kept.backfill;
    const bool queue = backfill.overlap == model::BackfillOverlap::kQueue;
    const bool all_made = backfill.next >= backfill.count;
    const std::int64_t most = queue || all_made ? 1 : kMaxUnfinished;
    KSANA_TRY(const std::int64_t unfinished,
              store_.runs().Count(RunsOf(backfill.id, model::kUnfinishedStates), most));
    if (unfinished >= most) {
        waiting_ = true;  // the end of a run wakes the loop
        return {};
    }
    if (all_made) {
        step.again = true;
        return End(kept, now);
    }
    if (backfill.due_at > now) {
        step.NotLaterThan(OnThisNode(backfill.due_at, now, clock_));
        return {};
    }
    const auto submitted = Submit(kept, queue ? 1 : BatchOf(backfill), now);
    if (!submitted && IsHopeless(submitted.error())) {
        step.again = true;
        return GiveUp(backfill.id, submitted.error(), now);
    }
    if (!submitted) return submitted;
    if (backfill.due_at <= now || backfill.next >= backfill.count) step.again = true;
    step.NotLaterThan(OnThisNode(backfill.due_at, now, clock_));
    return {};
}

Result<const std::vector<TimePoint>*> Backfiller::FiresOf(const Backfill& backfill) {
    const auto found = fires_.find(backfill.id);
    if (found != fires_.end()) return &found->second;
    KSANA_TRY(std::vector<TimePoint> fires, repository_.Fires(backfill.id));
    return &fires_.emplace(backfill.id, std::move(fires)).first->second;
}

Result<void> Backfiller::Submit(BackfillRepository::Kept& kept, std::size_t most, TimePoint now) {
    Backfill& backfill = kept.backfill;
    KSANA_TRY(const model::Job job, store_.jobs().Get(backfill.job_id));
    KSANA_TRY(const std::vector<TimePoint>* const fires, FiresOf(backfill));
    const auto begin = fires->begin() + std::min(backfill.next, std::ssize(*fires));
    const auto end = begin + std::min<std::ptrdiff_t>(kWindow, fires->end() - begin);
    KSANA_TRY(const auto there, store_.jobs().FindFires(backfill.job_id, {begin, end}));
    const std::set<TimePoint> have_runs(there.begin(), there.end());
    const Run basis = plans_.RunOf(job);
    std::vector<Run> runs;
    for (auto fire = begin; fire != end && runs.size() < most; ++fire) {
        ++backfill.next;
        if (have_runs.contains(*fire)) {
            ++backfill.skipped;
        } else {
            runs.push_back(RunFor(backfill, basis, *fire, now));
        }
    }
    if (begin == end) backfill.next = backfill.count;
    if (!runs.empty()) {
        KSANA_TRY(const auto outcomes,
                  store_.runs().Submit({.now = now, .runs = std::move(runs), .start = {}}));
        for (const store::Submitted& outcome : outcomes) {
            const bool same = outcome.verdict == store::SubmitVerdict::kSameFire;
            ++(same ? backfill.skipped : backfill.submitted);
            if (!same) backfill.due_at = std::max(backfill.due_at, now) + IntervalOf(backfill);
        }
    }
    return repository_.Put(kept);
}

// The job is gone or a stored document cannot be read. Other backfills must not wait for this one.
Result<void> Backfiller::GiveUp(const Uuid& id, const Error& error, TimePoint now) {
    KSANA_TRY(BackfillRepository::Kept kept, repository_.Get(id));
    Log(LogLevel::kWarn, "a backfill was given up",
        {{"backfill", id.ToString()}, {"error", error.Describe()}});
    kept.backfill.error = error.Describe();
    kept.backfill.state = BackfillState::kCancelled;
    kept.backfill.ended_at = now;
    return repository_.Put(kept);
}

// Recounts from the store: runs whose step was not recorded before a crash were counted as skipped.
Result<void> Backfiller::End(BackfillRepository::Kept& kept, TimePoint now) {
    KSANA_TRY(kept.backfill, Counted(store_.runs(), std::move(kept.backfill)));
    KSANA_TRY(
        const std::int64_t made,
        store_.runs().Count(RunsOf(kept.backfill.id, model::kAllStates), kept.backfill.count));
    kept.backfill.submitted = std::max(kept.backfill.submitted, made);
    kept.backfill.skipped = kept.backfill.count - kept.backfill.submitted;
    kept.backfill.state = BackfillState::kFinished;
    kept.backfill.ended_at = now;
    KSANA_TRY_VOID(repository_.Put(kept));
    Log(LogLevel::kInfo, "a backfill has finished",
        {{"backfill", kept.backfill.id.ToString()},
         {"job", kept.backfill.job_id},
         {"succeeded", kept.backfill.succeeded},
         {"failed", kept.backfill.failed}});
    return {};
}

}  // namespace ksana::engine
