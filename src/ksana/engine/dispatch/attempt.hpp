#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "ksana/base/time/time.hpp"
#include "ksana/engine/callbacks/callback_call.hpp"
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
    kTimeout,    // it took too long
    kShutdown,   // this node stops
    kLost,       // its lease belongs to another node by now
};

// One attempt of a run on this node, from its claim to the report of its end. ActiveAttempts owns
// it, together with the executor while that carries it out.
//
// Executors read `run`, `job` and `callback`, which stay as they are once the executor has the
// attempt. Everything below them belongs to ActiveAttempts and is guarded by its mutex, until the
// attempt has ended and the dispatcher has taken it.
struct ActiveAttempt {
    model::Run run;                         // running, with its exec_id, deadline and payload
    std::shared_ptr<const model::Job> job;  // null: submitted directly, deleted, or not read yet
    std::shared_ptr<const CallbackCall> callback = {};  // only of a callback

    SteadyPoint due{};        // when it may be handed to the executor
    bool begun = false;       // handed to the executor; before that it waits
    bool has_waited = false;  // for a limit: its timeout is to count from its start…
    bool told_begun = false;  // …and the renewal under way says so
    SteadyPoint started_at{};
    SteadyPoint leased_at{};   // the lease was got, or last renewed
    SteadyPoint renew_at{};    // the lease is to be renewed then; max(): it is lost
    SteadyPoint overdue_at{};  // it is asked to stop then; max(): it has not begun
    StopReason stop = StopReason::kNone;
    LimitTracker::Ticket ticket;  // once it has begun, where there are limits

    bool ended = false;
    SteadyPoint ended_at{};
    model::Event event;                         // how it ended
    std::optional<model::WaitCause> held_back;  // why it was given back without having begun
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
