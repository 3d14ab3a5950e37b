#pragma once

#include <cstdint>
#include <string>

#include "ksana/model/enum_names.hpp"
#include "ksana/model/job/policy.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::model {

enum class CallbackEvent : std::uint8_t {
    kSuccess,
    kError,
    kAlert,  // about an incident (alert_incident.hpp) instead of a run
};

// The payload of a callback run: what to send and where. The destination is that of the type when
// the reported run ended; the type may have changed by the time of the delivery. Contains no
// secret: the request is signed with the secrets that the type or rule has at the time of the
// delivery.
struct CallbackOrder {
    CallbackEvent event = CallbackEvent::kSuccess;
    CallbackMethod method = CallbackMethod::kPost;
    std::string url;       // empty: the type was unknown, or had no URL
    bool signed_ = false;  // whether the type asked for a signature
    std::string body;      // JSON; sent byte for byte
    std::string alert;     // kAlert: id of the rule, which holds the secret
    friend bool operator==(const CallbackOrder&, const CallbackOrder&) = default;
};

template <>
struct EnumNames<CallbackEvent> {
    static constexpr std::array<std::string_view, 3> kNames = {"success", "error", "alert"};
};

// The delivery state of a callback: a summary of the state of its run.
enum class CallbackState : std::uint8_t {
    kPending,  // being delivered, or waiting for the next attempt
    kDelivered,
    kFailed,   // a dead letter: waits for a user to send it again
    kGivenUp,  // cancelled or closed by a user
};

template <>
struct EnumNames<CallbackState> {
    static constexpr std::array<std::string_view, 4> kNames = {"pending", "delivered", "failed",
                                                               "given_up"};
};

constexpr CallbackState CallbackStateOf(RunState state) {
    switch (state) {
        case RunState::kScheduled:
        case RunState::kQueued:
        case RunState::kRunning:
        case RunState::kCompleting:
            return CallbackState::kPending;
        case RunState::kSucceeded:
            return CallbackState::kDelivered;
        case RunState::kHeld:
        case RunState::kFailed:
        case RunState::kTimedOut:
            return CallbackState::kFailed;
        case RunState::kCancelled:
        case RunState::kResolved:
        case RunState::kSkipped:
        case RunState::kMissed:
            return CallbackState::kGivenUp;
    }
    return CallbackState::kPending;
}

constexpr RunStates StatesOf(CallbackState wanted) {
    RunStates states = 0;
    for (std::size_t n = 0; n < kEnumCount<RunState>; ++n) {
        const auto state = static_cast<RunState>(n);
        if (CallbackStateOf(state) == wanted) {
            states = static_cast<RunStates>(states | SetOf(state));
        }
    }
    return states;
}

}  // namespace ksana::model
