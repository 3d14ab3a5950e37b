#include "sim/sim_task_checks.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/time/time_text.hpp"

namespace ksana::sim {

using model::EventKind;
using model::EventVerdict;
using model::NewTask;
using model::Run;
using model::RunState;
using model::RunStatus;

namespace {

constexpr std::size_t kUnluckyKept = 10;

bool IsTask(const Run& run) { return run.kind == model::ActionKind::kQueue; }

bool IsReport(EventKind kind) {
    return kind == EventKind::kSuccess || kind == EventKind::kRetryableFailure ||
           kind == EventKind::kPermanentFailure || kind == EventKind::kSnooze ||
           kind == EventKind::kShutdown;
}

// Returns whether the run has the policy of this type where the task says nothing. Computed without
// the tested code.
bool IsPolicyOf(const Run& run, const NewTask& task, const model::RunType& type) {
    const model::RunPolicy& policy = run.policy;
    const model::RunPolicy defaults;
    const auto retry = task.retry ? task.retry : type.retry;
    const auto timeout = task.timeout ? task.timeout : type.timeout;
    return policy.retry == retry.value_or(defaults.retry) &&
           policy.timeout == timeout.value_or(defaults.timeout) &&
           policy.need_manual == task.need_manual.value_or(type.need_manual) &&
           policy.success_callback != type.callbacks.success.url.empty() &&
           policy.error_callback != type.callbacks.error.url.empty();
}

}  // namespace

void TaskChecks::Fail(std::string_view invariant, const Run& run, std::string what) {
    world_.Fail({.invariant = std::string(invariant),
                 .what = std::move(what),
                 .job_id = StoryOf(run),
                 .run_id = run.id.ToString()});
}

void TaskChecks::OnCommit(const Commit& commit) {
    for (const Commit::RunChange& change : commit.runs) {
        const Run& run = change.run;
        if (change.how == Commit::How::kDeleted) {
            FreeKey(run.id);
        } else if (IsTask(run) || run.trigger == model::RunTrigger::kCallback) {
            Change(run, change.how == Commit::How::kInserted);
        }
    }
}

void TaskChecks::Submitting(const NewTask& task) {
    submitted_.try_emplace(task.payload, task, world_.store_clock().Now());
}

void TaskChecks::Change(const Run& run, bool inserted) {
    if (inserted) {
        TaskRecord& record = records_[run.id];
        record.run = run;
        if (!IsTask(run)) return;
        ++made_;
        if (run.job_id.empty()) CheckNew(run);
        TakeKey(record);
        return;
    }
    const auto found = records_.find(run.id);
    if (found == records_.end()) return;  // RunChecks reports this
    TaskRecord& record = found->second;
    CheckMove(record.run, run);
    if (run.status.lease_until) {
        TimePoint& lease = leases_[run.status.exec_id];
        lease = std::max(lease, *run.status.lease_until);
    }
    const bool ends =
        record.run.status.state == RunState::kRunning && run.status.state != RunState::kRunning;
    if (ends && IsTask(run)) CheckEnd(record, run);
    record.run.status = run.status;
    if ((run.unique.states & model::SetOf(run.status.state)) == 0) FreeKey(run.id);
}

void TaskChecks::FreeKey(const Uuid& id) {
    const auto found = records_.find(id);
    if (found == records_.end() || !found->second.keeps_key) return;
    const Run& run = found->second.run;
    found->second.keeps_key = false;
    keys_[{run.tenant, run.unique.key}].erase(id);
}

// Checks that the run is what a client submitted, under the rules that its type had at some time.
void TaskChecks::CheckNew(const Run& run) {
    const auto old = again_.find(run.id);
    if (old != again_.end()) {
        if (records_[old->second].run.payload == run.payload) return;
        return Fail("I3", run, "a run that was to be made again became another one");
    }
    const auto found = submitted_.find(run.payload);
    if (found == submitted_.end()) return Fail("I3", run, "a task that nobody has submitted");
    const auto& [task, when] = found->second;
    if (task.type != run.type || task.tenant != run.tenant || task.priority != run.priority ||
        task.unique.key != run.unique.key || (task.id && *task.id != run.id)) {
        Fail("I3", run, "the stored task is not what was submitted");
    }
    CheckPolicy(run, task);
    if (world_.store_clock_was_set()) return;
    const TimePoint least = std::max(when + task.delay.value_or(Duration::zero()),
                                     task.start_at.value_or(TimePoint::min()));
    if (run.status.ready_at < least) Fail("I6", run, "a task is ready before its time");
}

void TaskChecks::CheckPolicy(const Run& run, const NewTask& task) {
    if (IsPolicyOf(run, task, {})) return;  // the type was not known
    const auto is_its = [&](const model::RunType& type) { return IsPolicyOf(run, task, type); };
    if (std::ranges::any_of(types_[run.type], is_its)) return;
    Fail("I3", run, "a task has rules that neither it nor its type ever had");
}

bool TaskChecks::HoldsKey(const TaskRecord& record) const {
    const Run& run = record.run;
    const auto& until = run.unique.until;
    const bool purged =
        model::IsFinal(run.status.state) && runs_.MayBePurged(*run.status.finished_at);
    return record.keeps_key && !purged && (!until || world_.store_clock().Now() < *until);
}

void TaskChecks::TakeKey(TaskRecord& record) {
    const Run& run = record.run;
    if (run.unique.key.empty()) return;
    std::set<Uuid>& holders = keys_[{run.tenant, run.unique.key}];
    for (const Uuid& other : holders) {
        // A clock that was set back makes a freed key count again.
        if (!HoldsKey(records_.at(other)) || world_.store_clock_was_set()) continue;
        Fail("I2", run,
             fmt::format("the key \"{}\" is held by run {}, which is {}", run.unique.key,
                         other.ToString(), model::NameOf(records_.at(other).run.status.state)));
    }
    record.keeps_key = (run.unique.states & model::SetOf(run.status.state)) != 0;
    if (record.keeps_key) holders.insert(run.id);
}

void TaskChecks::CheckMove(const Run& before, const Run& after) {
    const RunStatus& was = before.status;
    const RunStatus& is = after.status;
    CheckByHand(before, after);
    if (!IsTask(after)) return;
    if (was.state != RunState::kRunning || is.state != RunState::kRunning) return;
    if (is.exec_id != was.exec_id) return;  // RunChecks checks this
    // What the broker has is published, or a consumer begins it: another lease, and the deadline
    // counts from then on.
    if (model::IsWithBroker(was)) return;
    if (is.lease_until < was.lease_until) Fail("I4", after, "a lease became shorter");
    if (is.deadline != was.deadline) Fail("I6", after, "a heartbeat has moved the deadline");
}

// A run is held, sent back, closed or cancelled only if a client wanted that.
void TaskChecks::CheckByHand(const Run& before, const Run& after) {
    const RunState was = before.status.state;
    const RunState is = after.status.state;
    if (was == is) return;
    const bool waits = was == RunState::kScheduled || was == RunState::kQueued;
    const auto unless = [&](EventKind kind) {
        if (IsWanted(after.id, kind)) return;
        Fail("I3", after,
             fmt::format("{} became {}, which nobody wanted", model::NameOf(was),
                         model::NameOf(is)));
    };
    if (is == RunState::kHeld && waits) unless(EventKind::kHold);
    if (is == RunState::kHeld) ++held_;
    // A held callback is closed with its parent run.
    const bool with_its_run = after.trigger == model::RunTrigger::kCallback && after.parent &&
                              IsWanted(*after.parent, EventKind::kResolve);
    if (is == RunState::kResolved && !with_its_run) unless(EventKind::kResolve);
    if (is == RunState::kResolved && after.status.remark.empty()) {
        Fail("I3", after, "a person's remark is lost");
    }
    // Runs of a job are cancelled with it, or in favour of another run.
    const bool by_itself = !after.job_id.empty() || runs_.IsCancelWanted(after.id);
    if (is == RunState::kCancelled && !by_itself) unless(EventKind::kCancel);
    const bool goes_on = is == RunState::kScheduled || is == RunState::kQueued;
    if (was == RunState::kHeld && goes_on) unless(EventKind::kSendBack);
    if (was == RunState::kHeld && is == RunState::kRunning) {
        Fail("I4", after, "a run was claimed that waits for a person");
    }
    if (was == RunState::kCompleting && (goes_on || is == RunState::kRunning)) {
        Fail("I4", after, "a run that has its result goes on");
    }
    if (model::IsFinal(is) && is != RunState::kSucceeded) NoteUnlucky(after.id);
}

void TaskChecks::NoteUnlucky(const Uuid& id) {
    if (unlucky_.size() == kUnluckyKept) unlucky_.erase(unlucky_.begin());
    unlucky_.push_back(id);
}

void TaskChecks::CheckEnd(TaskRecord& record, const Run& after) {
    if (!after.status.last_report) return;
    const EventKind kind = *after.status.last_report;
    // The broker has not taken it or has lost it, or a user has cancelled what nobody has begun.
    const bool without_word =
        kind == EventKind::kShutdown || kind == EventKind::kSnooze || kind == EventKind::kCancel;
    if (without_word && model::IsWithBroker(record.run.status) &&
        after.status.owner == model::kBrokerOwner) {
        return;
    }
    if (IsReport(kind)) {
        CheckReport(record.run, after);
    } else {
        CheckTakenAway(record.run, after);
    }
    if (kind == EventKind::kSuccess && ++record.results > 1) {
        Fail("I4", after, "a task has two accepted results");
    }
    CheckExhausted(record.run, after);
}

void TaskChecks::Orphaned(const Run& run) {
    Fail("I4", run, "a replaced worker still holds a run after its successor has registered");
}

// The deadline or the lease had expired, and nothing else happened: agents report no timeouts.
void TaskChecks::CheckTakenAway(const Run& before, const Run& after) {
    const TimePoint now = world_.store_clock().Now();
    ++handed_on_;
    const TimePoint lease = before.status.lease_until.value_or(TimePoint::max());
    if (after.status.last_report == EventKind::kLostOwner && lease <= now) return;
    if (after.status.last_report == EventKind::kLostOwner &&
        workers_.MayLose(before.status.owner, now)) {
        return;
    }
    const TimePoint last = *before.status.deadline + before.policy.stop_grace;
    if (after.status.last_report == EventKind::kTimeout && last <= now) return;
    Fail("I4", after,
         fmt::format("a run was taken ({}) from the agent {}, whose lease ends {} and deadline {}",
                     model::NameOf(*after.status.last_report), before.status.owner,
                     before.status.lease_until ? FormatTime(lease) : "never", FormatTime(last)));
}

// The result is word for word what the agent of this attempt reported.
void TaskChecks::CheckReport(const Run& before, const Run& after) {
    const RunStatus& status = after.status;
    const model::Event* said = SaidOf(status);
    if (said == nullptr || said->kind != *status.last_report) {
        return Fail("I4", after,
                    fmt::format("a report ({}) was accepted that the agent of attempt {} never "
                                "gave: a stale one",
                                model::NameOf(*status.last_report), before.status.exec_id));
    }
    if (said->kind == EventKind::kSuccess) {
        if (status.result != said->result) Fail("I4", after, "the result is that of another");
        return;
    }
    const bool failed =
        said->kind == EventKind::kRetryableFailure || said->kind == EventKind::kPermanentFailure;
    if (failed && status.last_error != said->error) {
        Fail("I4", after, "the error is that of another attempt");
    }
    const bool again = status.state == RunState::kScheduled || status.state == RunState::kQueued;
    if (again && status.ready_at < *status.ended_at + said->after.value_or(Duration::zero())) {
        Fail("I6", after, "it is ready before the time that its agent named");
    }
}

void TaskChecks::CheckExhausted(const Run& before, const Run& after) {
    const RunState state = after.status.state;
    if (state == RunState::kHeld && !after.policy.need_manual) {
        Fail("I6", after, "a run is held although no person is to look");
    }
    const bool failed = state == RunState::kFailed || state == RunState::kTimedOut;
    if (failed && after.policy.need_manual) {
        Fail("I6", after, "a run has failed although a person was to look");
    }
    const bool timeout = after.status.last_report == EventKind::kTimeout;
    if (failed && timeout != (state == RunState::kTimedOut)) {
        Fail("I6", after, "failed and timed out are mixed up");
    }
    if (state == RunState::kCancelled && !before.status.cancel_requested) {
        Fail("I6", after, "a run was cancelled that nobody wanted to stop");
    }
}

const model::Event* TaskChecks::SaidOf(const RunStatus& status) const {
    auto found = said_.find(status.exec_id + "@" + status.owner);
    if (found == said_.end()) found = said_.find(status.exec_id);
    return found == said_.end() ? nullptr : &found->second;
}

void TaskChecks::Acknowledged(const NewTask& task, const store::Submitted& outcome) {
    runs_.Submitted(outcome.id);
    const auto found = records_.find(outcome.id);
    if (found == records_.end()) return;
    const TaskRecord& record = found->second;
    if (outcome.verdict == store::SubmitVerdict::kSameKey) {
        const bool holds = HoldsKey(record) || world_.store_clock_was_set();
        if (record.run.unique.key == task.unique.key && holds) return;
        return Fail("I3", record.run, "a task was refused for a key that this run does not hold");
    }
    if (record.run.payload != task.payload || (task.id && *task.id != outcome.id)) {
        Fail("I3", record.run, "a task was acknowledged as another one");
    }
}

void TaskChecks::Told(const Run& run, const model::Event& event, const store::Applied& applied,
                      TimePoint asked) {
    const auto found = records_.find(run.id);
    if (found == records_.end()) return Fail("I3", run, "an agent has a run that is not there");
    const RunStatus& status = found->second.run.status;
    const bool same = status.exec_id == event.exec_id;
    if (applied.verdict == EventVerdict::kStale) {
        ++late_;
        const bool current = status.state == RunState::kRunning || status.last_report == event.kind;
        if (same && current) Fail("I4", run, "a report was refused that is not stale");
    }
    if (applied.verdict == EventVerdict::kRefused) Fail("I4", run, "a report was refused");
    if (applied.verdict == EventVerdict::kNotFound && !model::IsFinal(status.state)) {
        Fail("I3", run, "a run that its agent has is gone");
    }
    if (applied.verdict != EventVerdict::kApplied) return;
    if (event.kind != EventKind::kProgress) {
        if (!accepted_.insert(event.exec_id).second) Fail("I4", run, "a report counted twice");
        return;
    }
    // Much may have happened since the commit; what its caller counts from is the question.
    const auto lease = leases_.find(event.exec_id);
    const bool renewed = lease != leases_.end() && lease->second >= asked + event.lease;
    if (!renewed && !world_.store_clock_was_set())
        Fail("I3", run, "an acknowledged heartbeat is not in the store");
}

void TaskChecks::Done(const Uuid& id, EventKind kind) {
    const auto found = records_.find(id);
    if (found == records_.end() || kind != EventKind::kResolve) return;
    if (found->second.run.status.state != RunState::kResolved) {
        Fail("I3", found->second.run, "an acknowledged remark is not in the store");
    }
}

}  // namespace ksana::sim
