#include "sim/sim_target.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace ksana::sim {

using model::EventKind;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

bool Targets::Arrive(const model::Run& run) {
    const model::RunStatus& status = run.status;
    world_.Note(StoryOf(run), static_cast<std::uint64_t>(status.fence), [&] {
        return fmt::format("target: run {} attempt {} fence {} exec {}", run.id.ToString(),
                           status.attempt, status.fence, status.exec_id);
    });
    const bool early = world_.store_clock().Now() < status.ready_at;
    if (early && !world_.store_clock_was_set()) {
        world_.Fail({.invariant = "I6",
                     .what = "the target was called before the time of the run",
                     .job_id = StoryOf(run),
                     .run_id = run.id.ToString()});
    }
    const auto [seen, fresh] = seen_.emplace(status.exec_id, run.id);
    if (!fresh) {
        world_.Fail({.invariant = "I4",
                     .what = "the target was called twice with one exec_id",
                     .job_id = StoryOf(run),
                     .run_id = run.id.ToString()});
    }
    std::int64_t& highest = fences_[run.id];
    if (status.fence == highest) {
        world_.Fail({.invariant = "I5",
                     .what = fmt::format("two attempts have the fence {}", highest),
                     .job_id = StoryOf(run),
                     .run_id = run.id.ToString()});
    }
    if (status.fence < highest) {
        ++fenced_out_;
        return false;
    }
    highest = status.fence;
    return true;
}

std::optional<EventKind> Targets::AnswerOf(const model::RunStatus& status) const {
    auto found = answers_.find(status.exec_id + "@" + status.owner);
    if (found == answers_.end()) found = answers_.find(status.exec_id);
    return found == answers_.end() ? std::nullopt : std::optional(found->second);
}

bool Targets::Arrive(const engine::ActiveAttempt& attempt) {
    if (attempt.callback && on_callback_) on_callback_(attempt);
    return Arrive(attempt.run);
}

// Like the HTTP executor: a callback without a URL counts as delivered, and one that cannot be
// signed is not sent.
bool SimExecutor::CanBeSent(const engine::ActiveAttempt& attempt) {
    return attempt.callback->fault.empty() && !attempt.callback->url.empty();
}

model::Event SimExecutor::Unsent(const engine::ActiveAttempt& attempt) {
    const std::string& fault = attempt.callback->fault;
    const EventKind kind = fault.empty() ? EventKind::kSuccess : EventKind::kPermanentFailure;
    targets_.Answered(attempt.run, kind);
    return {.kind = kind, .error = fault};
}

void SimExecutor::Start(std::shared_ptr<const engine::ActiveAttempt> started, Done done) {
    const engine::ActiveAttempt& attempt = *started;
    if (dead_) return;
    if (attempt.callback && !CanBeSent(attempt)) return done(Unsent(attempt));
    const std::string exec_id = attempt.run.status.exec_id;
    const Fate fate = Draw(attempt);
    const bool at_once = world_.Chance(30);
    const Duration travel = at_once ? Duration::zero() : world_.Between({}, milliseconds(20));
    calls_.emplace(exec_id, Call{attempt.run, std::move(done), fate.deaf, fate.hangs});
    if (attempt.job) targets_.limits().Begin(attempt.job->group, attempt.run);
    if (at_once) {
        const bool welcome = targets_.Arrive(attempt);
        return Answer(exec_id,
                      {.kind = welcome ? EventKind::kSuccess : EventKind::kPermanentFailure,
                       .target = model::TargetHealth::kAnswered});
    }
    // The call is in flight, even if the node dies meanwhile.
    world_.After(travel, [self = shared_from_this(), started, fate] {
        if (self->dead_ && self->world_.Chance(300)) return;
        const bool welcome = self->targets_.Arrive(*started);
        model::Event event = fate.event;
        if (!welcome) event = {.kind = EventKind::kPermanentFailure, .error = "an old fence"};
        self->AnswerAfter(fate.after, started->run.status.exec_id, std::move(event));
    });
}

SimExecutor::Fate SimExecutor::Draw(const engine::ActiveAttempt& attempt) {
    Fate fate;
    fate.event.kind = EventKind::kSuccess;
    fate.event.target = model::TargetHealth::kAnswered;
    fate.after = world_.Between(milliseconds(1), milliseconds(200));
    if (targets_.healed()) return fate;
    if (attempt.callback ? targets_.receivers_down() : targets_.down()) {
        fate.event.kind = EventKind::kRetryableFailure;
        fate.event.error = "connection refused";
        fate.event.target = model::TargetHealth::kDown;
        return fate;
    }
    fate.after = world_.Between(milliseconds(5), seconds(3));
    const std::uint64_t dice = world_.Below(100);
    if (dice < 58) return fate;
    if (dice < 74) {
        fate.event.kind = EventKind::kRetryableFailure;
        fate.event.error = "503";
        fate.event.target = model::TargetHealth::kDown;
        if (world_.Chance(100)) fate.event.after = world_.Between({}, seconds(60));
        return fate;
    }
    if (dice < 80) {
        fate.event.kind = EventKind::kPermanentFailure;
        fate.event.error = "404";
        return fate;
    }
    return DrawBad(attempt.run.policy.timeout);
}

SimExecutor::Fate SimExecutor::DrawBad(Duration timeout) {
    Fate fate;
    const std::uint64_t dice = world_.Below(20);
    if (dice < 12) {  // slow, perhaps too slow: the executor enforces the timeout
        fate.after = world_.Between(seconds(1), timeout * 2);
        fate.event.kind = EventKind::kSuccess;
        if (fate.after >= timeout) {
            fate.event.kind = EventKind::kTimeout;
            fate.event.error = "no answer in time";
            fate.after = timeout;
        }
        fate.deaf = world_.Chance(300);
        return fate;
    }
    // Hangs, and the executor does not enforce the timeout; deaf calls do not even stop when asked.
    fate.hangs = true;
    fate.deaf = dice >= 17;
    fate.after = timeout + world_.Between(minutes(1), minutes(15));
    fate.event.kind = world_.Chance(500) ? EventKind::kSuccess : EventKind::kTimeout;
    return fate;
}

void SimExecutor::AnswerAfter(Duration delay, const std::string& exec_id, model::Event event) {
    world_.After(delay, [self = shared_from_this(), exec_id, event = std::move(event)] {
        if (self->dead_) return;
        self->post_([self, exec_id, event] { self->Answer(exec_id, event); });
    });
}

void SimExecutor::Answer(const std::string& exec_id, model::Event event) {
    auto call = calls_.extract(exec_id);
    targets_.limits().End(exec_id);
    if (dead_ || call.empty()) return;
    world_.Note(StoryOf(call.mapped().run), static_cast<std::uint64_t>(event.kind), [&] {
        return fmt::format("answer: run {} exec {}: {}", call.mapped().run.id.ToString(), exec_id,
                           model::NameOf(event.kind));
    });
    targets_.Answered(call.mapped().run, event.kind);
    call.mapped().done(std::move(event));
}

void SimExecutor::Cancel(std::string_view exec_id) {
    const auto call = calls_.find(exec_id);
    if (call == calls_.end()) return;
    world_.Note(StoryOf(call->second.run), 3,
                [&] { return fmt::format("stop asked: {}", exec_id); });
    if (call->second.deaf && !targets_.healed()) return;
    if (!call->second.hangs && world_.Chance(200)) return;  // it ends as it would have
    model::Event event{.kind = EventKind::kCancelled, .error = "asked to stop"};
    if (world_.Chance(300)) return Answer(call->first, std::move(event));
    AnswerAfter(world_.Between({}, milliseconds(300)), call->first, std::move(event));
}

void SimExecutor::Die() {
    dead_ = true;
    for (const auto& [exec_id, call] : calls_) targets_.limits().End(exec_id);
    calls_.clear();
}

void SimExecutor::Heal() {
    for (const auto& [exec_id, call] : calls_) {
        AnswerAfter(world_.Between({}, seconds(5)), exec_id, {.kind = EventKind::kSuccess});
    }
}

}  // namespace ksana::sim
