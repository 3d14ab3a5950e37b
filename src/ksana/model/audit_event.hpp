#pragma once

#include <cstdint>
#include <string>

#include "ksana/base/time.hpp"

namespace ksana::model {

// Something that somebody or the server itself did, kept to be looked up (G-11). Objects and data
// are JSON, or empty.
struct AuditEvent {
    std::int64_t seq = 0;  // given by the store; grows
    TimePoint at{};
    std::string tenant = "default";
    std::string action;  // "created"
    std::string user;
    std::string resource_type;  // "job"
    std::string resource_id;
    std::string old_object;
    std::string new_object;
    std::string data;
    std::string client_ip;
    std::string method;

    friend bool operator==(const AuditEvent&, const AuditEvent&) = default;
};

}  // namespace ksana::model
