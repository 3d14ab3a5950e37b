#pragma once

#include <string>
#include <string_view>

#include "ksana/model/audit_event.hpp"

namespace ksana::engine {

// Who does something, as far as the door they came through can tell.
struct Actor {
    std::string user;
    std::string client_ip;
    std::string method;  // of the request and its path: "POST /api/v1/jobs"
    std::string request_id;
};

// What was done, in the words of model/audit_event.hpp.
struct Deed {
    std::string_view action;
    std::string_view resource_type;
    std::string resource_id;
    std::string tenant;
    std::string data;  // JSON
};

// The event that is kept of it. Texts that are longer than a store takes are cut.
model::AuditEvent AuditOf(const Actor& by, Deed deed);

}  // namespace ksana::engine
