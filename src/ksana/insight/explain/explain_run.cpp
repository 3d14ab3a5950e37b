#include "ksana/insight/explain/explain_case.hpp"

#include <algorithm>

#include "ksana/base/text/utf8.hpp"
#include "ksana/codec/records/wait_cause_codec.hpp"
#include "ksana/engine/dispatch/late_starts.hpp"
#include "ksana/insight/explain/audit_lookup.hpp"
#include "ksana/insight/explain/run_search.hpp"
#include "ksana/model/run/decide.hpp"

namespace ksana::insight {
namespace {

using model::Run;
using model::RunState;
using model::SkipReason;

constexpr std::size_t kMaxError = 400;

bool IsWaiting(RunState state) {
    return state == RunState::kScheduled || state == RunState::kQueued;
}

// Returns the first start time that was set for the run. A retry moves ready_at.
TimePoint DueAt(const ExplainCase& c, const Run& run) {
    const bool first =
        run.status.attempt == 0 || (run.status.attempt == 1 && !IsWaiting(run.status.state));
    if (run.trigger != model::RunTrigger::kFire) {
        return first ? run.status.ready_at : run.created_at;
    }
    const TimePoint nominal = run.nominal_at.value_or(run.created_at);
    const bool fires = c.Fires(nominal);
    const TimePoint due = fires ? c.schedule->WithJitter(run.job_id, nominal) : nominal;
    // Planned on time and yet ready later: a limit has deferred it.
    const bool given_back = fires && run.created_at - due <= c.params.late_after &&
                            run.status.ready_at - due > c.params.late_after;
    return first && !given_back ? run.status.ready_at : due;
}

RunFacts FactsOf(const Run& run, TimePoint due, std::optional<TimePoint> start) {
    const model::RunStatus& status = run.status;
    RunFacts facts{.id = run.id,
                   .state = status.state,
                   .trigger = run.trigger,
                   .created_at = run.created_at,
                   .started_at = start,
                   .finished_at = status.finished_at,
                   .ready_at = {},
                   .attempts = status.attempt - (IsHeldBack(run) ? 1 : 0),
                   .progress = status.progress,
                   .late = {},
                   .took = {},
                   .owner = status.owner,
                   .error = Printable(Excerpt(status.last_error, kMaxError))};
    if (IsWaiting(status.state)) facts.ready_at = status.ready_at;
    if (!start) return facts;
    facts.late = std::max(*start - due, Duration::zero());
    const auto end = status.finished_at ? status.finished_at : status.ended_at;
    if (end && !IsWaiting(status.state)) facts.took = std::max(*end - *start, Duration::zero());
    return facts;
}

// Fills in the explanation of a run. For one call; the arguments must outlive it.
class RunExplainer {
  public:
    RunExplainer(const ExplainCase& c, const Run& run, Explanation& explanation)
        : c_(c), run_(run), out_(explanation) {}

    Result<void> Explain() {
        KSANA_TRY(const auto start, FirstStart(store(), run_));
        due_ = DueAt(c_, run_);
        out_.run = FactsOf(run_, due_, start);
        if (due_ != run_.nominal_at.value_or(due_)) out_.start_at = due_;
        switch (run_.status.state) {
            case RunState::kScheduled:
            case RunState::kQueued:
                return ExplainWaiting();
            case RunState::kRunning:
                // Stored as started ahead of its time: the owner waits for that time.
                if (run_.status.started_at.value_or(c_.now) > c_.now) return Wait(Reason::kNotDue);
                if (const auto cause = CauseOf(run_)) return WaitFor(*cause);
                out_.verdict = Verdict::kRunning;
                return {};
            case RunState::kHeld:
                return Wait(Reason::kHeld);
            case RunState::kCancelled:
                return ExplainCancelled();
            case RunState::kSkipped:
                return ExplainSkipped();
            case RunState::kMissed:
                out_.verdict = Verdict::kMissed;
                return {};
            case RunState::kCompleting:
            case RunState::kSucceeded:
            case RunState::kFailed:
            case RunState::kTimedOut:
            case RunState::kResolved:
                break;
        }
        return ExplainEnded();
    }

  private:
    store::Store& store() const { return c_.sources.store; }

    Result<void> Wait(Reason reason) {
        out_.verdict = Verdict::kWaiting;
        out_.reason = reason;
        return {};
    }

    // The detail of a waiting or skipped run names the job; a run that went on forgets it.
    void NoteDependency() {
        const auto cause = codec::WaitCauseFromDetail(run_.status.detail);
        const bool named = cause && cause->reason == model::WaitReason::kDependency;
        out_.dependency =
            DependencyFacts{.job_id = named ? cause->key : "", .since = {}, .until = {}};
        if (!run_.status.wait_until) return;
        out_.dependency->until = run_.status.wait_until;
        out_.dependency->since = *run_.status.wait_until - run_.policy.max_wait;
    }

    Result<void> WaitFor(const model::WaitCause& cause) {
        out_.limit = LimitFacts{.key = cause.key, .before = cause.before};
        if (cause.reason == model::WaitReason::kBroker) return Wait(Reason::kBroker);
        return Wait(cause.reason == model::WaitReason::kLimited ? Reason::kLimited
                                                                : Reason::kBreakerOpen);
    }

    Result<void> ExplainWaiting() {
        if (model::AwaitsJobs(run_.status)) {
            NoteDependency();
            return Wait(Reason::kDependency);
        }
        if (run_.status.blocked) {
            KSANA_TRY(out_.related, FindBlockingRun(store(), run_, c_.now));
            return Wait(Reason::kBlocked);
        }
        if (run_.status.ready_at > c_.now) {
            if (const auto cause = CauseOf(run_)) return WaitFor(*cause);
            return Wait(run_.status.attempt > 0 ? Reason::kRetry : Reason::kNotDue);
        }
        if (!c_.params.node) return Wait(Reason::kUnclaimed);
        const NodeView& node = *c_.params.node;
        if (node.served && !node.served(run_)) return Wait(Reason::kNoWorker);
        if (node.busy >= node.slots) return Wait(Reason::kNoSlot);
        const bool late = c_.now - run_.status.ready_at > engine::LateStarts::kLate;
        return Wait(late && node.starts_held_back ? Reason::kStartRate : Reason::kUnclaimed);
    }

    Result<void> ExplainEnded() {
        const bool late = out_.run->late.value_or(Duration::zero()) > c_.params.late_after;
        if (late) return ExplainLate();
        out_.verdict = run_.status.attempt > 1 ? Verdict::kRetried : Verdict::kRan;
        return {};
    }

    Result<void> ExplainLate() {
        out_.verdict = Verdict::kRanLate;
        const TimePoint start = *out_.run->started_at;
        KSANA_TRY(out_.related, FindAwaited(store(), run_, due_, start));
        if (run_.created_at - due_ > c_.params.late_after) {
            out_.reason = Reason::kOverdue;
            out_.related.reset();
        } else if (run_.status.wait_until) {
            out_.reason = Reason::kWaitedForJob;
            out_.related.reset();
            NoteDependency();
        } else if (run_.status.attempt == 1 && run_.status.ready_at - due_ > c_.params.late_after) {
            out_.reason = Reason::kWaitedForLimit;
            out_.related.reset();
        } else {
            out_.reason = out_.related ? Reason::kWaitedForRun : Reason::kWaitedForSlot;
        }
        return {};
    }

    Result<void> ExplainCancelled() {
        out_.verdict = Verdict::kCancelled;
        KSANA_TRY(out_.actor, FindActor(store(), {.action = kAuditCancelled,
                                                  .resource_type = kAuditRun,
                                                  .resource_id = run_.id.ToString(),
                                                  .until = {}}));
        if (out_.actor) return {};
        KSANA_TRY(out_.related, FindCanceller(store(), run_));
        if (out_.related) out_.reason = Reason::kCancelOther;
        return {};
    }

    Result<void> ExplainSkipped() {
        switch (run_.status.skip_reason) {
            case SkipReason::kLock:
                out_.verdict = Verdict::kSkippedLock;
                return {};
            case SkipReason::kDependency:
                out_.verdict = Verdict::kSkippedDependency;
                NoteDependency();
                return {};
            case SkipReason::kPaused:
                out_.verdict = Verdict::kSkippedPaused;
                return {};
            case SkipReason::kCalendar:
                out_.verdict = Verdict::kSkippedCalendar;
                out_.calendar = CalendarFactsOf(c_, run_.nominal_at.value_or(run_.created_at));
                return {};
            case SkipReason::kNone:
            case SkipReason::kOverlap:
                break;
        }
        out_.verdict = Verdict::kSkippedOverlap;
        const TimePoint at = run_.status.finished_at.value_or(run_.updated_at);
        KSANA_TRY(out_.related, FindBlockingRun(store(), run_, at));
        return {};
    }

    const ExplainCase& c_;
    const Run& run_;
    Explanation& out_;
    TimePoint due_{};
};

}  // namespace

Result<void> ExplainRun(const ExplainCase& c, const Run& run, Explanation& explanation) {
    return RunExplainer(c, run, explanation).Explain();
}

}  // namespace ksana::insight
