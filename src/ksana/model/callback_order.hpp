#pragma once

#include <cstdint>
#include <string>

#include "ksana/model/enum_names.hpp"
#include "ksana/model/policy.hpp"

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

}  // namespace ksana::model
