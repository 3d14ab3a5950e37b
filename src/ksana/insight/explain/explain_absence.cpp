#include "ksana/insight/explain/explain_case.hpp"

#include <algorithm>

#include "ksana/base/text/utf8.hpp"
#include "ksana/insight/explain/audit_lookup.hpp"
#include "ksana/model/job/plan.hpp"

namespace ksana::insight {
namespace {

using model::FireFate;
using model::LedgerEntry;

constexpr std::size_t kEntries = 100;

LedgerFacts FactsOf(const LedgerEntry& entry) {
    return {.seq = entry.seq,
            .fate = entry.range.fate,
            .count = entry.range.range.count,
            .first = entry.range.range.first,
            .last = entry.range.range.last,
            .recorded_at = entry.recorded_at};
}

// Fills in the explanation of a fire without a run. For one call; the arguments must outlive it.
class AbsenceExplainer {
  public:
    AbsenceExplainer(const ExplainCase& c, const FoundFire& fire, Explanation& explanation)
        : c_(c), fire_(fire), out_(explanation) {}

    Result<void> Explain() {
        KSANA_TRY(const auto page, c_.sources.store.jobs().Ledger({.job_id = c_.params.job_id,
                                                                   .from = fire_.at,
                                                                   .until = fire_.at + kTick,
                                                                   .limit = kEntries,
                                                                   .cursor = {}}));
        if (const LedgerEntry* entry = EntryOf(page.items)) return FromLedger(*entry);
        if (!c_.job) {
            out_.verdict = Verdict::kUnknownJob;
            return {};
        }
        if (fire_.at <= c_.PlannedUntil()) return NoRecord(page.items);
        if (fire_.kind == FoundKind::kBlocked) return BlockedAndNotRecorded();
        if (!c_.job->enabled) return Paused(fire_.at > c_.now);
        if (fire_.at > c_.now) {
            out_.verdict = Verdict::kWillRun;
            return {};
        }
        return NotPlannedYet();
    }

  private:
    bool IsCalendarEntry(const LedgerEntry& entry) const {
        return entry.range.fate == FireFate::kSkippedCalendar;
    }

    // Returns the entry that accounts for the fire. A period may have an entry for blocked fires
    // and one for others: a fire that the calendar blocks belongs to the first, any other fire to
    // the second.
    const LedgerEntry* EntryOf(const std::vector<LedgerEntry>& entries) const {
        const auto is_end = [&](const LedgerEntry& entry) {
            return entry.range.range.first == fire_.at || entry.range.range.last == fire_.at;
        };
        // A deletion by a user takes precedence over the entries of the planner.
        for (const LedgerEntry& entry : entries) {
            if (entry.range.fate == FireFate::kDeleted && is_end(entry)) return &entry;
        }
        for (const LedgerEntry& entry : entries) {
            if (fire_.kind == FoundKind::kRecorded ? is_end(entry)
                                                   : IsCalendarEntry(entry) == WantsCalendar()) {
                return &entry;
            }
        }
        return nullptr;
    }
    bool WantsCalendar() const { return fire_.kind == FoundKind::kBlocked; }

    Result<void> FromLedger(const LedgerEntry& entry) {
        out_.ledger = FactsOf(entry);
        if (c_.ChangedSince(entry.recorded_at)) {
            out_.notes.emplace_back("the job has been changed since this was recorded");
        }
        switch (entry.range.fate) {
            case FireFate::kSkippedCalendar:
                return Calendar(Verdict::kSkippedCalendar);
            case FireFate::kSkippedPaused:
                return Paused(false);
            case FireFate::kDeleted:
                return DeletedRun(entry);
            case FireFate::kNoWorker:
                out_.verdict = Verdict::kSkippedNoWorker;
                return {};
            default:
                break;
        }
        out_.verdict = Verdict::kMissed;
        if (c_.job) out_.misfire = c_.job->misfire.policy;
        return {};
    }

    Result<void> DeletedRun(const LedgerEntry& entry) {
        KSANA_TRY(out_.actor,
                  FindDeleter(c_.sources.store, entry.job_id, fire_.at, entry.recorded_at));
        return Purged(Reason::kDeleted);
    }

    Result<void> Calendar(Verdict verdict) {
        out_.verdict = verdict;
        if (verdict == Verdict::kWillBeSkipped) out_.reason = Reason::kCalendar;
        out_.calendar = CalendarFactsOf(c_, fire_.at);
        return {};
    }

    Result<void> BlockedAndNotRecorded() {
        const bool to_come = fire_.at > c_.now;
        return Calendar(to_come ? Verdict::kWillBeSkipped : Verdict::kSkippedCalendar);
    }

    // Adds the last user who paused the job before the fire. If the job is still paused, its own
    // fields complete that.
    Result<void> Paused(bool to_come) {
        out_.verdict = to_come ? Verdict::kWillBeSkipped : Verdict::kSkippedPaused;
        if (to_come) out_.reason = Reason::kPaused;
        KSANA_TRY(out_.actor, FindActor(c_.sources.store, {.action = kAuditPaused,
                                                           .resource_type = kAuditJob,
                                                           .resource_id = c_.params.job_id,
                                                           .until = fire_.at + kTick}));
        if (!c_.job || c_.job->enabled || out_.ledger) return {};
        // Still the same pause, so the job's own reason applies to it.
        if (!out_.actor) {
            out_.actor = Actor{.user = {}, .at = c_.job->state.updated_at, .reason = {}};
        }
        if (out_.actor->reason.empty()) out_.actor->reason = Printable(c_.job->paused_reason);
        return {};
    }

    Result<void> NotPlannedYet() {
        out_.verdict = Verdict::kNotPlannedYet;
        out_.reason = Reason::kBehind;
        out_.misfire = c_.job->misfire.policy;
        const model::PlanResult plan =
            model::Plan(*c_.schedule, {.job_id = c_.job->id,
                                       .planned_until = c_.PlannedUntil(),
                                       .paused = false,
                                       .misfire = c_.job->misfire,
                                       .now = c_.now,
                                       .look_ahead_until = c_.now,
                                       .max_fires = 10'000});
        for (const model::PlannedFire& fire : plan.fires) {
            if (fire.nominal == fire_.at) out_.expected = fire.fate;
        }
        for (const model::LedgerRange& range : plan.ranges) {
            const bool inside = range.range.first <= fire_.at && fire_.at <= range.range.last;
            if (inside && range.fate == FireFate::kMissed) out_.expected = range.fate;
        }
        return {};
    }

    // Handles a fire that was planned, but has neither a run nor a ledger entry.
    Result<void> NoRecord(const std::vector<LedgerEntry>& others) {
        // A job fires only after its creation.
        if (fire_.at <= c_.job->state.created_at) {
            out_.verdict = Verdict::kNotAFire;
            out_.reason = Reason::kBeforeCreated;
            return {};
        }
        KSANA_TRY(const bool reached, RetentionReached());
        if (!reached && !others.empty() && IsCalendarEntry(others.front())) {
            out_.notes.emplace_back("the calendar lets this time through now");
            out_.ledger = FactsOf(others.front());
            return Calendar(Verdict::kSkippedCalendar);
        }
        if (c_.job->run_log == model::RunLog::kNone) return Purged(Reason::kRunLog);
        if (reached) {
            if (c_.ChangedSince(fire_.at)) {
                out_.notes.emplace_back(
                    "the job has been changed since then, perhaps its schedule, too");
            }
            return Purged(Reason::kRetention);
        }
        if (!c_.ChangedSince(fire_.at)) return Purged(Reason::kDeleted);
        out_.verdict = Verdict::kNotAFire;
        out_.reason = Reason::kScheduleChanged;
        return {};
    }

    Result<void> Purged(Reason reason) {
        out_.verdict = Verdict::kPurged;
        out_.reason = reason;
        return {};
    }

    // Returns whether retention may have deleted the run of this fire. Retention deletes runs in
    // the order in which they ended: if a run that ended before this fire still exists, a run of
    // this fire would, too.
    Result<bool> RetentionReached() {
        store::RunQuery query;
        query.filter.finished_until = fire_.at;
        query.sort = store::RunSort::kFinished;
        query.limit = 1;
        KSANA_TRY(const auto page, c_.sources.store.runs().List(query));
        return page.items.empty();
    }

    const ExplainCase& c_;
    const FoundFire& fire_;
    Explanation& out_;
};

// Returns whether the job's schedule would fire at `at` with another DST policy.
bool FiresWith(const ExplainCase& c, const schedule::DstPolicy& dst, TimePoint at) {
    schedule::ScheduleSpec spec = c.job->schedule;
    spec.dst = dst;
    const auto other =
        schedule::Schedule::Compile(spec, c.sources.ContextFor(c.job->state.created_at));
    return other && other->Next(at - kTick) == std::optional(at);
}

// Returns kDstGap if the clocks skipped the fire shortly before, kDstFold if the time occurs twice
// and the policy chose the other pass, else kNone.
Reason DstReason(const ExplainCase& c) {
    if (c.job->schedule.kind != schedule::ScheduleKind::kCron) return Reason::kNone;
    const auto minute = std::chrono::floor<std::chrono::minutes>(c.params.at);
    using schedule::FoldPolicy;
    using schedule::GapPolicy;
    const schedule::DstPolicy own = c.job->schedule.dst;
    if (own.fold != FoldPolicy::kBoth) {
        const schedule::DstPolicy both{own.gap, FoldPolicy::kBoth};
        if (FiresWith(c, both, c.params.at) || FiresWith(c, both, minute)) return Reason::kDstFold;
    }
    const std::int64_t index = c.zone->IndexAt(
        std::chrono::floor<std::chrono::seconds>(c.params.at).time_since_epoch().count());
    const schedule::ZoneSegment segment = c.zone->Segment(index);
    if (own.gap != GapPolicy::kSkip || segment.begin == schedule::ZoneSegment{}.begin) {
        return Reason::kNone;
    }
    const std::int64_t gap = segment.offset - c.zone->Segment(index - 1).offset;
    const TimePoint end{std::chrono::seconds(segment.begin)};
    const bool near = gap > 0 && c.params.at < end + std::chrono::seconds(gap);
    const schedule::DstPolicy moved{GapPolicy::kRunAfter, own.fold};
    return near && FiresWith(c, moved, end) ? Reason::kDstGap : Reason::kNone;
}

// Returns whether the recorded fires next to the requested time belong to another schedule.
Result<bool> WasAnotherSchedule(const ExplainCase& c) {
    if (!c.ChangedSince(c.params.at)) return false;
    const auto is_other = [&](TimePoint fire) { return !c.Fires(fire) && !c.IsBlocked(fire); };
    for (const bool later : {false, true}) {
        store::RunQuery query;
        query.filter.job_id = c.params.job_id;
        query.filter.trigger = model::RunTrigger::kFire;
        query.sort = store::RunSort::kFinished;
        (later ? query.filter.finished_from : query.filter.finished_until) = c.params.at;
        query.descending = !later;
        query.limit = 1;
        KSANA_TRY(const auto page, c.sources.store.runs().List(query));
        for (const model::Run& run : page.items) {
            const bool before_change = run.created_at < c.job->state.updated_at;
            if (before_change && run.nominal_at && is_other(*run.nominal_at)) return true;
        }
    }
    KSANA_TRY(const auto page, c.sources.store.jobs().Ledger({.job_id = c.params.job_id,
                                                              .from = c.params.at,
                                                              .until = c.params.at + kTick,
                                                              .limit = kEntries,
                                                              .cursor = {}}));
    return std::ranges::any_of(page.items, [&](const LedgerEntry& entry) {
        return is_other(entry.range.range.first) || is_other(entry.range.range.last);
    });
}

}  // namespace

Result<void> ExplainNoRun(const ExplainCase& c, const FoundFire& fire, Explanation& explanation) {
    return AbsenceExplainer(c, fire, explanation).Explain();
}

Result<void> ExplainNoFire(const ExplainCase& c, Explanation& explanation) {
    const TimePoint at = c.params.at;
    if (!c.job) {
        explanation.verdict = Verdict::kUnknownJob;
        KSANA_TRY(explanation.actor, FindActor(c.sources.store, {.action = kAuditDeleted,
                                                                 .resource_type = kAuditJob,
                                                                 .resource_id = c.params.job_id,
                                                                 .until = {}}));
        return {};
    }
    if (!c.schedule) {
        explanation.verdict = Verdict::kNotPlannedYet;
        explanation.reason = Reason::kScheduleBroken;
        return {};
    }
    const schedule::ScheduleSpec& spec = c.job->schedule;
    explanation.verdict = Verdict::kNotAFire;
    explanation.reason = Reason::kOffSchedule;
    if (at < c.job->state.created_at) {
        explanation.reason = Reason::kBeforeCreated;
    } else if (spec.start_at && at < *spec.start_at) {
        explanation.reason = Reason::kBeforeStart;
    } else if (spec.end_at && at > *spec.end_at) {
        explanation.reason = Reason::kAfterEnd;
    } else if (const Reason dst = DstReason(c); dst != Reason::kNone) {
        explanation.reason = dst;
    } else {
        KSANA_TRY(const bool other, WasAnotherSchedule(c));
        if (other) explanation.reason = Reason::kScheduleChanged;
    }
    return {};
}

}  // namespace ksana::insight
