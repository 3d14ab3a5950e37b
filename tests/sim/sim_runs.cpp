#include "sim/sim_runs.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/error/check.hpp"
#include "ksana/base/time/time_text.hpp"

namespace ksana::sim {

using model::EventKind;
using model::Run;
using model::RunState;
using model::RunStatus;

namespace {

// The latest start without faults and with free slots (I13).
constexpr Duration kPunctual = std::chrono::seconds(2);

// The next claim queues a scheduled run whose time has come; that change is not reported.
bool SameStatus(RunStatus a, const RunStatus& b) {
    if (a.state == RunState::kScheduled && b.state == RunState::kQueued) a.state = b.state;
    return a == b;
}

bool IsAnswer(EventKind kind) {
    return kind == EventKind::kSuccess || kind == EventKind::kRetryableFailure ||
           kind == EventKind::kPermanentFailure;
}

// Returns the shortest delay before the next attempt, computed without the tested code.
Duration LeastDelay(const model::RetryPolicy& retry, int failures) {
    if (retry.strategy != model::RetryStrategy::kExponential) return retry.interval;
    Duration delay = retry.interval;
    for (int n = 1; n < failures && delay < retry.max_interval; ++n) delay *= 2;
    return std::min(delay, retry.max_interval);
}

int MostFailures(const model::RetryPolicy& retry) {
    return retry.strategy == model::RetryStrategy::kNone ? 1 : retry.max_retries + 1;
}

}  // namespace

void RunChecks::Fail(std::string_view invariant, const Run& run, std::string what) {
    world_.Fail({.invariant = std::string(invariant),
                 .what = std::move(what),
                 .job_id = StoryOf(run),
                 .run_id = run.id.ToString()});
}

const Run* RunChecks::Find(const Uuid& id) const {
    const auto found = books_.find(id);
    return found == books_.end() ? nullptr : &found->second.run;
}

void RunChecks::OnCommit(const Commit& commit) {
    first_starts_.clear();
    for (const Commit::RunChange& change : commit.runs) {
        if (change.how == Commit::How::kDeleted) {
            Forget(change.run.id);
        } else {
            Change(change.run, change.how == Commit::How::kInserted);
        }
    }
    for (const Uuid& id : first_starts_) CheckOverlap(books_.at(id).run);
    if (commit.purged_before) {
        purged_before_ =
            std::max(purged_before_.value_or(*commit.purged_before), *commit.purged_before);
    }
}

void RunChecks::Change(const Run& run, bool inserted) {
    const RunStatus& status = run.status;
    world_.Note(StoryOf(run), static_cast<std::uint64_t>(status.state), [&] {
        return fmt::format("{} run {} of {}: {}{} attempt {} failures {} owner {} ready {} {} {}",
                           inserted ? "new" : "   ", run.id.ToString(),
                           run.nominal_at ? FormatTime(*run.nominal_at) : "a person",
                           model::NameOf(status.state), status.blocked ? " (blocked)" : "",
                           status.attempt, status.failures, status.owner,
                           FormatTime(status.ready_at), status.exec_id, status.last_error);
    });
    const auto [found, fresh] = books_.try_emplace(run.id, Book{run, {}, false, false});
    Book& book = found->second;
    if (inserted != fresh) return Fail("I2", run, "a run was made twice, or was never made");
    if (fresh) {
        book.run.status = {};
        book.run.status.ready_at = status.ready_at;
    }
    CheckStep(book, run);
    if (status.exec_id != book.run.status.exec_id) CheckStart(book, run);
    if (book.run.status.state == RunState::kRunning && status.state != RunState::kRunning) {
        CheckEnd(book.run, run);
    }
    book.run.status = status;
    book.waited |= status.blocked;
    if (model::IsUnderWay(status)) {
        under_way_[run.job_id].insert(run.id);
    } else {
        under_way_[run.job_id].erase(run.id);
    }
    if (model::IsFinal(status.state)) {
        unfinished_.erase(run.id);
    } else {
        unfinished_.insert(run.id);
    }
}

void RunChecks::CheckStep(const Book& book, const Run& after) {
    const RunStatus& before = book.run.status;
    if (model::IsFinal(before.state) && after.status != before) {
        Fail("I4", after, "a final run changed");
    }
    if (after.status.fence < before.fence || after.status.attempt < before.attempt) {
        Fail("I5", after, "a fence went back");
    }
    // An attempt that never began gives its number to the next one.
    const bool deferred = before.outcome == model::AttemptOutcome::kDeferred;
    if (after.status.exec_id != before.exec_id && after.status.attempt == before.attempt &&
        !deferred) {
        Fail("I4", after, "an attempt got another exec_id");
    }
    if (after.status.failures > MostFailures(after.policy.retry)) {
        Fail("I6", after, "more attempts than its retries allow");
    }
}

void RunChecks::CheckStart(Book& book, const Run& after) {
    const RunStatus& before = book.run.status;
    const RunStatus& status = after.status;
    ++attempts_;
    if (before.state == RunState::kRunning) {
        Fail("I4", after, "a second attempt started while one was under way");
    }
    const int used = before.outcome == model::AttemptOutcome::kDeferred ? 0 : 1;
    if (status.attempt != before.attempt + used || status.fence != before.fence + 1) {
        Fail("I5", after, "attempt and fence do not grow by one");
    }
    if (!book.exec_ids.insert(status.exec_id).second) Fail("I4", after, "an exec_id came again");
    if (before.cancel_requested) Fail("I4", after, "a cancelled run started again");
    if (before.blocked) Fail("I8", after, "a run started that had to wait for another");
    // If the store's clock was set back, a run may have been ready before. The target checks that
    // no call comes before its time.
    const bool early = *status.started_at < before.ready_at;
    if (early && !world_.store_clock_was_set()) {
        Fail("I6", after, "a run started before its time");
    }
    if (before.attempt > 0) return;
    first_starts_.insert(after.id);
    CheckPunctual(book, after);
}

void RunChecks::CheckPunctual(const Book& book, const Run& after) {
    if (after.created_at < punctual_from_ || book.waited) return;
    if (after.kind == model::ActionKind::kQueue) return;  // that depends on agents
    const Duration late = *after.status.started_at - after.status.ready_at;
    if (late <= kPunctual) return;
    Fail("I13", after,
         fmt::format("started {:.1f} s late although all is well",
                     std::chrono::duration<double>(late).count()));
}

// A fire of a job that forbids overlap starts only if no run of the job is under way. The order of
// starts in one commit is unknown: runs that may start at any time are assumed to have come after
// it.
void RunChecks::CheckOverlap(const Run& run) {
    const auto at_any_time = [](const Run& one) {
        return one.policy.overlap == model::OverlapPolicy::kAllow || one.policy.ignores_overlap;
    };
    if (at_any_time(run) || !model::IsUnderWay(run.status)) return;
    for (const Uuid& other : under_way_[run.job_id]) {
        if (other == run.id) continue;
        if (first_starts_.contains(other) && at_any_time(books_.at(other).run)) continue;
        Fail("I8", run, fmt::format("started while run {} was under way", other.ToString()));
    }
}

void RunChecks::CheckEnd(const Run& before, const Run& after) {
    const RunStatus& status = after.status;
    if (!status.last_report) return Fail("I4", after, "an attempt ended without a report");
    const EventKind kind = *status.last_report;
    ended_[status.exec_id] = kind;
    if (IsAnswer(kind) && targets_.AnswerOf(status) != kind) {
        Fail("I4", after,
             fmt::format("a report ({}) was accepted that attempt {} never gave: a stale one",
                         model::NameOf(kind), status.exec_id));
    }
    if (kind == EventKind::kSnooze) {
        if (status.outcome == model::AttemptOutcome::kDeferred) ++deferred_;
        if (status.failures != before.status.failures) {
            Fail("I6", after, "a limit or a snooze used up an attempt");
        }
    }
    if (kind == EventKind::kShutdown) {
        ++released_;
        if (status.failures != before.status.failures) {
            Fail("I6", after, "a shutdown used up an attempt");
        }
    }
    if (kind == EventKind::kLostOwner) {
        ++lost_;
        if (before.status.lease_until > status.ended_at && alive_(before.status.owner)) {
            Fail("I4", after, "a run was taken from an owner that holds its lease");
        }
    }
    CheckRetry(before, after);
}

void RunChecks::CheckRetry(const Run& before, const Run& after) {
    const RunStatus& status = after.status;
    const model::RetryPolicy& retry = after.policy.retry;
    const EventKind kind = *status.last_report;
    const bool may_retry = kind == EventKind::kRetryableFailure || kind == EventKind::kTimeout ||
                           kind == EventKind::kLostOwner;
    if (!may_retry || before.status.cancel_requested) return;
    if (status.failures != before.status.failures + 1) {
        Fail("I6", after, "a failure was not counted");
    }
    const bool exhausted = status.failures >= MostFailures(retry);
    const bool lost = kind == EventKind::kLostOwner;
    if (exhausted == (status.state == (lost ? RunState::kQueued : RunState::kScheduled))) {
        Fail("I6", after,
             exhausted ? "tried again although its retries are used up"
                       : "given up although there are retries left");
    }
    if (exhausted) return;
    if (lost) {
        if (status.ready_at != *status.ended_at) {
            Fail("I6", after, "an attempt lost with its owner is not tried again at once");
        }
        return;
    }
    if (status.ready_at < *status.ended_at + LeastDelay(retry, status.failures)) {
        Fail("I6", after, "the next try comes before the back-off is over");
    }
}

void RunChecks::Forget(const Uuid& id) {
    const auto found = books_.find(id);
    if (found == books_.end()) return;
    Book& book = found->second;
    if (book.run.policy.run_log != model::RunLog::kNone && !model::IsFinal(book.run.status.state)) {
        Fail("I1", book.run, "a run vanished before its end");
    }
    book.gone = true;
    under_way_[book.run.job_id].erase(id);
    unfinished_.erase(id);
}

void RunChecks::Ended(const engine::AttemptEnd& end) {
    const auto found = books_.find(end.run.id);
    if (found == books_.end()) return Fail("I3", end.run, "a report for a run that is not there");
    const Book& book = found->second;
    if (book.gone) return;
    const bool current =
        book.run.status.exec_id == end.event.exec_id && book.run.status.state == RunState::kRunning;
    if (end.applied.verdict == model::EventVerdict::kStale && current) {
        Fail("I4", end.run, "the report of the attempt under way was refused");
    }
    if (end.applied.verdict != model::EventVerdict::kApplied &&
        end.applied.verdict != model::EventVerdict::kDuplicate) {
        return;
    }
    if (current) {
        return Fail("I3", end.run, "an acknowledged report is not in the store: a lost update");
    }
    const auto how = ended_.find(end.event.exec_id);
    if (how == ended_.end() || how->second != end.event.kind) {
        Fail("I4", end.run, "a stale report was accepted: its attempt had ended otherwise");
    }
}

void RunChecks::Submitted(const Uuid& id) {
    if (books_.contains(id)) return;
    world_.Fail({.invariant = "I3",
                 .what = "an acknowledged run is not in the store",
                 .job_id = {},
                 .run_id = id.ToString()});
}

void RunChecks::CancelTaken(const Uuid& id) {
    const auto found = books_.find(id);
    if (found == books_.end() || found->second.gone) return;
    const RunStatus& status = found->second.run.status;
    if (status.cancel_requested || model::IsFinal(status.state)) return;
    Fail("I3", found->second.run, "an acknowledged wish to cancel is not in the store");
}

void RunChecks::CompareWith(store::Store& store) {
    store::RunQuery query;
    query.limit = store::kMaxPageSize;
    std::size_t found = 0;
    do {
        const auto page = store.runs().List(query);
        KSANA_CHECK(page.has_value(), "the store itself does not fail");
        for (const Run& run : page->items) {
            const auto book = books_.find(run.id);
            if (book == books_.end() || !SameStatus(book->second.run.status, run.status)) {
                Fail("I3", run, "the stored run is not what was committed");
            }
        }
        found += page->items.size();
        query.cursor = page->next;
    } while (!query.cursor.empty());
    const auto kept =
        std::ranges::count_if(books_, [](const auto& one) { return !one.second.gone; });
    if (!purged_before_ && found != static_cast<std::size_t>(kept)) {
        world_.Fail({.invariant = "I1", .what = "runs are missing", .job_id = {}, .run_id = {}});
    }
}

void RunChecks::CheckFinal(TimePoint before) {
    for (const Uuid& id : unfinished_) {
        const Run& run = books_.at(id).run;
        const RunStatus& status = run.status;
        if (std::max(run.created_at, status.ready_at) >= before) continue;
        const bool retry = status.failures > 0 && status.state != RunState::kRunning;
        const bool callback =
            status.state == RunState::kCompleting || run.trigger == model::RunTrigger::kCallback;
        Fail(callback ? "I10"
             : retry  ? "I6"
                      : "I7",
             run,
             fmt::format("{} is {}{} for ever, attempt {}, owner \"{}\", ready {}, lease until {}",
                         retry ? "a run that was to be tried again" : "a run",
                         model::NameOf(status.state), status.blocked ? " (blocked)" : "",
                         status.attempt, status.owner, FormatTime(status.ready_at),
                         status.lease_until ? FormatTime(*status.lease_until) : "-"));
    }
}

}  // namespace ksana::sim
