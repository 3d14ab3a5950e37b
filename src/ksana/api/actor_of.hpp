#pragma once

#include <fmt/core.h>

#include "ksana/engine/actor.hpp"
#include "ksana/http_server/message.hpp"

namespace ksana::api {

// Who sent a request, for the audit.
inline engine::Actor ActorOf(const http_server::Request& request) {
    return {.user = request.caller.name,
            .client_ip = request.peer,
            .method = fmt::format("{} {}", MethodName(request.method), request.path),
            .request_id = request.request_id};
}

}  // namespace ksana::api
