#include "sim/sim_callbacks.hpp"

#include <fmt/core.h>

namespace ksana::sim {

using model::EventKind;
using model::Run;
using model::RunState;

namespace {

bool IsTask(const Run& run) { return run.kind == model::ActionKind::kQueue; }

// Errors of these worlds contain nothing worse than quotes.
std::string Quoted(std::string_view text) {
    std::string quoted;
    for (const char c : text) {
        if (c == '"') quoted += '\\';
        quoted += c;
    }
    return quoted;
}

// Returns the body that the receiver must get.
std::string BodyOf(const Run& run, bool success) {
    const std::string ext = run.payload.empty() ? "null" : run.payload;
    const std::string& result = run.status.result;
    if (success) {
        return fmt::format(R"({{"ext":{},"result":{}}})", ext, result.empty() ? "null" : result);
    }
    return fmt::format(R"({{"task_id":"{}","error_info":"{}","ext":{}}})", run.id.ToString(),
                       Quoted(run.status.last_error), ext);
}

}  // namespace

void CallbackChecks::Fail(const Run& run, std::string what) {
    world_.Fail({.invariant = "I10",
                 .what = std::move(what),
                 .job_id = StoryOf(run),
                 .run_id = run.id.ToString()});
}

// A run and its callback change in one commit, in either order.
void CallbackChecks::OnCommit(const Commit& commit) {
    ends_.clear();
    told_.clear();
    delivered_.clear();
    for (const Commit::RunChange& change : commit.runs) {
        const Run& run = change.run;
        if (change.how == Commit::How::kDeleted || !IsTask(run)) continue;
        const auto was = tasks_were_.find(run.id);
        NoteEnd(was == tasks_were_.end() ? RunState::kScheduled : was->second, run);
        tasks_were_[run.id] = run.status.state;
    }
    for (const Commit::RunChange& change : commit.runs) {
        const Run& run = change.run;
        if (change.how == Commit::How::kDeleted || run.trigger != model::RunTrigger::kCallback) {
            continue;
        }
        if (change.how == Commit::How::kInserted) {
            Insert(run);
        } else {
            Change(run);
        }
    }
    CheckParents();
}

// Records what this step of a task asks for.
void CallbackChecks::NoteEnd(RunState before, const Run& after) {
    const RunState state = after.status.state;
    if (before == RunState::kCompleting && state == RunState::kSucceeded) {
        told_.emplace(after.id, after);
    }
    if (before != RunState::kRunning) return;
    const model::Event* said = tasks_.SaidOf(after.status);
    const bool success = after.status.last_report == EventKind::kSuccess;
    const bool wanted = after.policy.success_callback && said != nullptr && !said->without_callback;
    if (state == RunState::kCompleting && !wanted) {
        Fail(after, "a run is completing although nobody is to be told");
    }
    if (state == RunState::kSucceeded && wanted) {
        Fail(after, "a run has succeeded before anybody was told");
    }
    const bool failed = state == RunState::kFailed || state == RunState::kTimedOut;
    if ((success && wanted) || (failed && after.policy.error_callback)) {
        ends_.emplace(after.id, End{.run = &after, .success = success});
    }
}

void CallbackChecks::Insert(const Run& callback) {
    if (!callback.parent) return Fail(callback, "a callback that speaks of no run");
    Book& book = books_[callback.id];
    book.parent = *callback.parent;
    book.state = callback.status.state;
    last_[book.parent] = callback.id;
    const auto again = again_.find(callback.id);
    if (again != again_.end()) {
        book.body = books_[again->second].body;
        book.success = books_[again->second].success;
        return;
    }
    const auto end = ends_.find(book.parent);
    if (end == ends_.end()) {
        return Fail(callback, "a callback that nobody wants, or a second one for the same end");
    }
    book.success = end->second.success;
    book.body = BodyOf(*end->second.run, book.success);
    ends_.erase(end);
}

void CallbackChecks::Change(const Run& callback) {
    Book& book = books_[callback.id];
    const model::RunStatus& status = callback.status;
    const bool ended = book.state == RunState::kRunning && status.state != RunState::kRunning;
    book.state = status.state;
    if (!ended) return;
    if (status.state == RunState::kSucceeded) {
        if (!targets_.WasDone(callback.id)) {
            Fail(callback, "counts as delivered, and nobody took it");
        }
        delivered_.emplace(book.parent, callback);
    }
    if (status.state == RunState::kFailed || status.state == RunState::kTimedOut) {
        Fail(callback, "a callback was given up instead of kept for a person");
    }
    if (status.state != RunState::kHeld) return;
    ++dead_letters_;
    const bool used_up = status.failures > callback.policy.retry.max_retries ||
                         status.last_report == EventKind::kPermanentFailure;
    if (!used_up) Fail(callback, "a dead letter that has retries left");
}

void CallbackChecks::CheckParents() {
    for (const auto& [id, end] : ends_) {
        Fail(*end.run, "the end of a run was to be told, and there is no callback: it is lost");
    }
    for (const auto& [id, run] : told_) {
        if (!delivered_.contains(id)) Fail(run, "counts as told, and nobody was");
    }
    for (const auto& [id, callback] : delivered_) {
        if (tasks_were_[id] != RunState::kCompleting) continue;
        Fail(callback, "was delivered, and its run is completing all the same");
    }
}

void CallbackChecks::Arrived(const engine::ActiveAttempt& attempt) {
    ++arrived_;
    const auto found = books_.find(attempt.run.id);
    if (found == books_.end()) return Fail(attempt.run, "a callback that is in no store was sent");
    if (!attempt.callback->url.ends_with(found->second.success ? "/done" : "/failed")) {
        Fail(attempt.run, "a callback was sent to " + attempt.callback->url);
    }
    if (attempt.callback->body != found->second.body) {
        Fail(attempt.run, fmt::format("the receiver got {} instead of {}", attempt.callback->body,
                                      found->second.body));
    }
}

const Uuid* CallbackChecks::LastOf(const Uuid& parent) const {
    const auto found = last_.find(parent);
    return found == last_.end() ? nullptr : &found->second;
}

}  // namespace ksana::sim
