#pragma once

#include <string>
#include <string_view>

#include "ksana/model/audit_event.hpp"

namespace ksana::engine {

// The caller of an API or command-line operation, as far as the transport identifies it.
struct Actor {
    std::string user;
    std::string client_ip;
    std::string method;  // the request method and path: "POST /api/v1/jobs"
    std::string request_id;
    std::string trace_parent = {};  // a valid W3C traceparent, or empty
};

// One audited operation, named with the constants of model/audit_event.hpp.
struct AuditedAction {
    std::string_view action;
    std::string_view resource_type;
    std::string resource_id;
    std::string tenant;
    std::string data;  // JSON
};

// Returns the audit event that records `deed`. Cuts the texts of `by` to 1,000 bytes and makes them
// printable. `by.request_id` is not copied: callers put it into `deed.data`.
model::AuditEvent AuditOf(const Actor& by, AuditedAction deed);

}  // namespace ksana::engine
