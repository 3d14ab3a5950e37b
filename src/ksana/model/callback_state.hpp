#pragma once

#include <cstdint>

#include "ksana/model/enum_names.hpp"
#include "ksana/model/run.hpp"

namespace ksana::model {

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
