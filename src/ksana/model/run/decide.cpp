#include "ksana/model/run/decide.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "ksana/model/run/attempt_log.hpp"
#include "ksana/model/run/reporter.hpp"
#include "ksana/model/run/retry.hpp"

namespace ksana::model {
namespace {

// Limits durations that come from clients, so that time arithmetic cannot overflow.
Duration Bounded(Duration value, Duration most) {
    return std::clamp(value, Duration::zero(), most);
}

// Applies one event to one run. Each method implements one effect of the state table. A method that
// refuses does so before it changes anything.
class Decider {
  public:
    Decider(Run& run, const Event& event, TimePoint now)
        : run_(run), event_(event), policy_(run.policy), now_(now), status_(run.status) {}

    // The message broker has handed the attempt to the consumer that the event names: its time
    // begins now.
    void NoteTaken() {
        taken_ = true;
        status_.owner = event_.owner;
        status_.lease_until.reset();  // it was the message's
        status_.deadline = now_ + policy_.timeout;
        status_.started_at = now_;
        status_.detail.clear();
    }

    Transition Apply(Effect effect) {
        switch (effect) {
            case Effect::kRefuse:
                return Refuse();
            case Effect::kEnqueue:
                return Enqueue();
            case Effect::kBegin:
                return Begin();
            case Effect::kRenew:
                return Renew();
            case Effect::kTake:
                return Take();
            case Effect::kFinish:
                return Finish();
            case Effect::kRetryOrFail:
                return Fail(AttemptOutcome::kFailed, RunState::kFailed, true);
            case Effect::kRetryNowOrFail:
                return Fail(AttemptOutcome::kLost, RunState::kFailed, true);
            case Effect::kFail:
                return Fail(AttemptOutcome::kFailed, RunState::kFailed, false);
            case Effect::kRetryOrTimeOut:
                return Fail(AttemptOutcome::kTimedOut, RunState::kTimedOut, true);
            case Effect::kCancelNow:
                return CancelNow();
            case Effect::kAskToCancel:
                return AskToCancel();
            case Effect::kDeliver:
                status_.last_error.clear();  // of an earlier failed delivery
                return Close(RunState::kSucceeded);
            case Effect::kNoteUndelivered:
                return NoteUndelivered();
            case Effect::kHold:
                return Hold();
            case Effect::kResolve:
                status_.remark = event_.remark;
                return Close(RunState::kResolved);
            case Effect::kSendBack:
                return SendBack();
            case Effect::kPostpone:
                return Postpone();
            case Effect::kRelease:
                return Release();
            case Effect::kSkip:
                return Skip();
            case Effect::kMiss:
                return Close(RunState::kMissed);
            case Effect::kBlock:
                return Block();
            case Effect::kUnblock:
                return Unblock();
        }
        return Refuse();
    }

  private:
    bool IsRunning() const { return status_.state == RunState::kRunning; }

    Transition Applied() const {
        return {.verdict = EventVerdict::kApplied, .callback = callback_};
    }

    Transition Refuse(std::string why = "") const {
        if (why.empty()) {
            why = fmt::format("a {} run takes no {}", NameOf(status_.state), NameOf(event_.kind));
        }
        return {.verdict = EventVerdict::kRefused, .reason = std::move(why)};
    }

    static Transition Unchanged() { return {.verdict = EventVerdict::kDuplicate}; }

    // Changes the state. Clears `blocked`, which is meaningful for queued runs only.
    Transition Move(RunState state) {
        status_.state = state;
        status_.blocked = false;
        return Applied();
    }

    // Enters a final state.
    Transition Close(RunState state) {
        status_.finished_at = now_;
        return Move(state);
    }

    // Ends the attempt and clears its lease and deadline. exec_id stays, so that a repeated report
    // is recognised.
    void EndAttempt(AttemptOutcome outcome) {
        status_.last_report = event_.kind;
        status_.outcome = outcome;
        status_.ended_at = now_;
        NoteLines();
        status_.detail = WithLogOf(status_.detail, event_.detail);
        status_.lease_until.reset();
        status_.deadline.reset();
    }

    void NoteLines() {
        if (!event_.log.empty()) status_.detail = WithLines(status_.detail, event_.log);
    }

    Transition Enqueue() {
        if (now_ < status_.ready_at) return Refuse("its time has not come");
        return Move(RunState::kQueued);
    }

    // Starts a queued run even if `ready_at` lies in the future because the clock was set back:
    // otherwise the run would stay at the head of the queue and block the runs behind it.
    Transition Begin() {
        const bool waits = status_.state == RunState::kScheduled;
        if (waits && now_ < status_.ready_at) return Refuse("its time has not come");
        if (status_.blocked) {
            return Refuse(AwaitsJobs(status_) ? "it waits for a job that its job depends on"
                                              : "it waits for another run of its job");
        }
        if (event_.exec_id.empty()) return Refuse("a start needs an exec_id");
        if (event_.exec_id == status_.exec_id) return Refuse("a start needs a fresh exec_id");
        // A deferred attempt never began; the next one takes its number.
        if (status_.outcome != AttemptOutcome::kDeferred) status_.attempt += 1;
        status_.fence += 1;
        status_.exec_id = event_.exec_id;
        status_.last_report.reset();
        status_.outcome.reset();
        status_.ended_at.reset();
        status_.detail.clear();
        status_.owner = event_.owner;
        status_.lease_until = now_ + Bounded(event_.lease, kMaxLease);
        status_.deadline = now_ + policy_.timeout;
        status_.started_at = now_;
        status_.progress = 0;
        status_.progress_note.clear();
        status_.cancel_requested = false;
        status_.not_stopping = false;
        return Move(RunState::kRunning);
    }

    Transition Renew() {
        // Heartbeats may arrive out of order: a lease never gets shorter.
        status_.lease_until =
            std::max(status_.lease_until.value_or(now_), now_ + Bounded(event_.lease, kMaxLease));
        if (event_.progress) status_.progress = std::clamp(*event_.progress, 0, 100);
        if (!event_.note.empty()) status_.progress_note = event_.note;
        NoteLines();
        if (event_.not_begun) {
            status_.started_at = now_;
            // While the attempt waits, only its lease can expire: the deadline lies behind the
            // lease.
            const bool waits = !event_.detail.empty();
            status_.deadline = (waits ? *status_.lease_until : now_) + policy_.timeout;
            status_.detail = event_.detail;
        }
        return Applied();
    }

    // Said twice by the same consumer, it changes nothing; Decide has refused everybody else.
    Transition Take() {
        if (!taken_) return Unchanged();
        if (event_.lease > Duration::zero()) {
            status_.lease_until = now_ + Bounded(event_.lease, kMaxLease);
        }
        NoteLines();
        return Applied();
    }

    // Completed work counts as a success even if a cancel was requested meanwhile.
    Transition Finish() {
        EndAttempt(AttemptOutcome::kSucceeded);
        status_.result = event_.result;
        status_.last_error.clear();
        status_.progress = 100;
        if (policy_.success_callback && !event_.without_callback) {
            callback_ = CallbackWanted::kSuccess;
            return Move(RunState::kCompleting);
        }
        return Close(RunState::kSucceeded);
    }

    Transition Fail(AttemptOutcome outcome, RunState exhausted, bool may_retry) {
        if (status_.cancel_requested) return EndAsCancelled();
        EndAttempt(outcome);
        status_.failures += 1;
        status_.last_error = event_.error;
        status_.not_stopping = event_.not_stopping;
        const auto delay = may_retry ? RetryDelay(policy_.retry, status_.failures, event_.after,
                                                  run_.id.ToString())
                                     : std::nullopt;
        // The back-off spares a target that fails. An owner that died says nothing about the
        // target.
        if (delay && outcome == AttemptOutcome::kLost) {
            status_.ready_at = now_;
            return Move(RunState::kQueued);
        }
        if (delay) {
            status_.ready_at = now_ + *delay;
            return Move(RunState::kScheduled);
        }
        if (policy_.need_manual && !event_.without_person) return Move(RunState::kHeld);
        if (policy_.error_callback) callback_ = CallbackWanted::kError;
        return Close(exhausted);
    }

    // The attempt ended without success after a cancel was requested: the run is not retried.
    Transition EndAsCancelled() {
        status_.last_error = event_.error;
        status_.not_stopping = event_.not_stopping;
        EndAttempt(AttemptOutcome::kCancelled);
        return Close(RunState::kCancelled);
    }

    Transition CancelNow() {
        if (IsRunning()) EndAttempt(AttemptOutcome::kCancelled);
        status_.cancel_requested = true;
        return Close(RunState::kCancelled);
    }

    // What the broker has was not begun: nobody needs to be asked.
    Transition AskToCancel() {
        if (IsWithBroker(status_)) return CancelNow();
        if (status_.cancel_requested) return Unchanged();
        status_.cancel_requested = true;
        return Applied();
    }

    // A run that is sent back asks the jobs that it depends on anew.
    Transition Hold() {
        if (AwaitsJobs(status_)) status_.detail.clear();
        status_.wait_until.reset();
        return Move(RunState::kHeld);
    }

    Transition NoteUndelivered() {
        status_.last_error = event_.error;
        return Applied();
    }

    // Restores all retries. The run still does not start before its `ready_at`.
    Transition SendBack() {
        status_.failures = 0;
        return Move(status_.ready_at > now_ ? RunState::kScheduled : RunState::kQueued);
    }

    Transition Release() {
        if (status_.cancel_requested) return EndAsCancelled();
        EndAttempt(AttemptOutcome::kReleased);
        status_.ready_at = now_;
        return Move(RunState::kQueued);
    }

    Transition Postpone() {
        if (status_.cancel_requested) return EndAsCancelled();
        EndAttempt(event_.not_begun ? AttemptOutcome::kDeferred : AttemptOutcome::kSnoozed);
        status_.ready_at = now_ + Bounded(event_.after.value_or(Duration::zero()), kMaxSnooze);
        return Move(RunState::kScheduled);
    }

    Transition Skip() {
        if (IsRunning()) EndAttempt(AttemptOutcome::kSkipped);
        status_.skip_reason = event_.reason;
        if (!event_.error.empty()) status_.last_error = event_.error;
        if (!event_.detail.empty()) status_.detail = event_.detail;
        return Close(RunState::kSkipped);
    }

    Transition Block() {
        if (status_.blocked && !event_.wait_until) return Unchanged();
        status_.state = RunState::kQueued;
        status_.blocked = true;
        status_.wait_until = event_.wait_until;
        if (event_.wait_until) status_.detail = event_.detail;
        return Applied();
    }

    Transition Unblock() {
        if (!status_.blocked) return Unchanged();
        if (AwaitsJobs(status_)) status_.detail.clear();
        return Move(RunState::kQueued);
    }

    const Run& run_;
    const Event& event_;
    const RunPolicy& policy_;
    TimePoint now_;
    RunStatus& status_;
    CallbackWanted callback_ = CallbackWanted::kNone;
    bool taken_ = false;
};

// Returns whether the event must carry the exec_id of the current attempt. A skip is fenced only
// while the run is running.
bool NeedsExecId(const Run& run, const Event& event) {
    return IsFenced(event.kind) ||
           (event.kind == EventKind::kSkip && run.status.state == RunState::kRunning);
}

// Returns whether a consumer of the broker is heard of for the first time. That may be the end of
// the attempt: messages overtake each other.
bool IsTakenBy(const Run& run, const Event& event) {
    return IsWithBroker(run.status) && !event.owner.empty() && event.owner != kBrokerOwner;
}

}  // namespace

Transition Decide(Run& run, const Event& event, TimePoint now) {
    if (NeedsExecId(run, event)) {
        if (auto refusal = JudgeReporter(run, event)) return *std::move(refusal);
    }
    Decider decider(run, event, now);
    if (IsFenced(event.kind) && IsTakenBy(run, event)) decider.NoteTaken();
    return decider.Apply(EffectOf(run.status.state, event.kind));
}

bool IsWithBroker(const RunStatus& status) {
    return status.state == RunState::kRunning && status.owner == kBrokerOwner;
}

std::optional<Attempt> LastAttempt(const Run& run) {
    if (run.status.attempt == 0) return std::nullopt;
    const RunStatus& status = run.status;
    return Attempt{.run_id = run.id,
                   .number = status.attempt,
                   .exec_id = status.exec_id,
                   .fence = status.fence,
                   .owner = status.owner,
                   .started_at = status.started_at.value_or(TimePoint{}),
                   .ended_at = status.ended_at,
                   .outcome = status.outcome,
                   .error = status.outcome ? status.last_error : "",
                   .detail = status.detail,
                   .not_stopping = status.not_stopping};
}

bool IsUnderWay(const RunStatus& status) {
    return status.attempt > 0 &&
           (status.state == RunState::kScheduled || status.state == RunState::kQueued ||
            status.state == RunState::kRunning);
}

std::optional<TimePoint> ExpiresAt(const Run& run) {
    const RunStatus& status = run.status;
    if (status.state != RunState::kRunning) return std::nullopt;
    std::optional<TimePoint> expires = status.lease_until;
    // The time of an attempt that the broker has begins when a consumer begins it.
    if (status.deadline && !IsWithBroker(status)) {
        const TimePoint last = *status.deadline + run.policy.stop_grace;
        expires = std::min(expires.value_or(last), last);
    }
    return expires;
}

// An expired lease takes precedence over an expired deadline: the owner is gone, not slow.
std::optional<Event> OverdueEvent(const Run& run, TimePoint now) {
    const auto expires = ExpiresAt(run);
    if (!expires || *expires > now) return std::nullopt;
    Event event{.exec_id = run.status.exec_id};
    if (IsWithBroker(run.status)) {
        event.kind = EventKind::kShutdown;
        event.error = "no consumer of the message broker has begun it in time";
        return event;
    }
    if (run.status.lease_until && *run.status.lease_until <= now) {
        event.kind = EventKind::kLostOwner;
        event.error = fmt::format("lost: \"{}\" was not heard of in time", run.status.owner);
    } else {
        event.kind = EventKind::kTimeout;
        event.error = "timed out: the owner did not end the attempt in time";
        event.not_stopping = run.policy.stop_grace > Duration::zero();
    }
    return event;
}

bool AwaitsJobs(const RunStatus& status) {
    return status.state == RunState::kQueued && status.blocked && status.wait_until.has_value();
}

std::optional<TimePoint> LooksAgainAt(const Run& run) {
    if (!AwaitsJobs(run.status)) return std::nullopt;
    return std::min(*run.status.wait_until, run.updated_at + kLookAgain);
}

bool HoldsKey(const Run& run, TimePoint now) {
    const UniqueRule& rule = run.unique;
    return !rule.key.empty() && (rule.states & SetOf(run.status.state)) != 0 &&
           (!rule.until || now < *rule.until);
}

}  // namespace ksana::model
