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
    kAlert,  // tells of no run, but of an incident (alert_incident.hpp)
};

// What a callback run is to send: its payload. Where it goes is as it was when the run it speaks of
// ended; the type may say otherwise by the time it is sent. No secret is here: what is sent is
// signed with those that the type has then.
struct CallbackOrder {
    CallbackEvent event = CallbackEvent::kSuccess;
    CallbackMethod method = CallbackMethod::kPost;
    std::string url;       // empty: the type was not known, or named nobody
    bool signed_ = false;  // the type wanted it signed
    std::string body;      // JSON; byte by byte what is sent
    std::string alert;     // kAlert: the rule that has the secret
    friend bool operator==(const CallbackOrder&, const CallbackOrder&) = default;
};

template <>
struct EnumNames<CallbackEvent> {
    static constexpr std::array<std::string_view, 3> kNames = {"success", "error", "alert"};
};

// Where the delivery of a callback stands, in fewer words than a run has.
enum class CallbackState : std::uint8_t {
    kPending,    // under way, or waits for its next try
    kDelivered,  // somebody took it
    kFailed,     // a dead letter: waits for a person to send it again
    kGivenUp,    // a person has cancelled or closed it
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
