#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "ksana/base/time/time.hpp"
#include "ksana/engine/callbacks/callback_call.hpp"
#include "ksana/engine/dispatch/attempt_news.hpp"
#include "ksana/engine/limits/limits.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/model/run/wait_cause.hpp"

namespace ksana::engine {

// Why an attempt was asked to stop.
enum class StopReason : std::uint8_t {
    kNone,
    kCancelled,  // a user cancelled the run
    kTimeout,    // the attempt exceeded its timeout
    kShutdown,   // this node shuts down
    kLost,       // another node has the lease, or the run is over
};

// One attempt of a run on this node, from the claim to the committed report of its end. Shared by
// ActiveAttempts and, while it executes the attempt, the executor.
//
// Executors read `run`, `job`, `callback` and `store_offset`, which do not change once the executor
// has the attempt, and may call `tell`. All members below them belong to ActiveAttempts and are
// guarded by its mutex until the attempt has ended and the dispatcher has taken it.
struct ActiveAttempt {
    model::Run run;                         // running, with its exec_id, deadline and payload
    std::shared_ptr<const model::Job> job;  // null: submitted directly, deleted, or not read yet
    std::shared_ptr<const CallbackCall> callback = {};  // null: the run is no callback
    // Takes news of the running attempt, for its next renewal; of too many log lines the oldest are
    // dropped. Empty: nobody wants to know. Any thread; returns quickly.
    std::function<void(AttemptNews)> tell = {};
    // How far the store's clock, which the times of the run refer to, is ahead of this node's.
    Duration store_offset{};

    SteadyPoint due{};        // earliest time to hand it to the executor
    bool begun = false;       // handed to the executor; before that it waits
    bool has_waited = false;  // waited for a limit, so the stored timeout must count from the start
    bool told_begun = false;  // the renewal in flight carries that correction
    SteadyPoint started_at{};
    SteadyPoint leased_at{};   // when the lease was acquired or last renewed
    SteadyPoint renew_at{};    // when to renew the lease; max(): the lease is lost
    SteadyPoint overdue_at{};  // when to ask the attempt to stop; max(): not begun
    StopReason stop = StopReason::kNone;
    AttemptNews news;             // not sent yet
    AttemptNews telling;          // in the renewal in flight, or in one that failed
    LimitTracker::Ticket ticket;  // the held limits; empty before it begins or without limits

    bool ended = false;
    SteadyPoint ended_at{};
    model::Event event;
    std::optional<model::WaitCause> held_back;  // why the run was given back before it began
};

using AttemptPointer = std::shared_ptr<ActiveAttempt>;

inline LimitSubject SubjectOf(const ActiveAttempt& attempt) {
    return SubjectOf(attempt.run, attempt.job.get(), attempt.callback.get());
}

inline AttemptPointer MakeAttempt(model::Run run, std::shared_ptr<const model::Job> job = nullptr) {
    auto attempt = std::make_shared<ActiveAttempt>();
    attempt->run = std::move(run);
    attempt->job = std::move(job);
    return attempt;
}

}  // namespace ksana::engine
