#pragma once

#include <optional>
#include <string>

#include <fmt/core.h>

#include "ksana/engine/actor.hpp"
#include "ksana/http_server/routing/message.hpp"
#include "ksana/http_server/routing/router.hpp"

namespace ksana::api {

// Authorizes requests. With a token, every route that is not public requires "Authorization: Bearer
// …". Without one, every client that reaches the address may do everything, which is why a server
// without a token listens on loopback only. A browser on the same machine reaches that address too,
// so requests that come from a page of another origin are refused, unless they are GET or HEAD and
// only read. (Pages that rebind a name are refused by http_server::HostRule.) Immutable, hence
// thread-safe.
class Guard {
  public:
    explicit Guard(std::optional<std::string> token) : token_(std::move(token)) {}

    // Returns the caller, kUnauthenticated for a missing or wrong token, or kPermissionDenied for a
    // request from another origin. Looks at the head of the request only.
    Result<http_server::Caller> Check(const http_server::Request& request,
                                      http_server::Permission permission) const;

  private:
    const std::optional<std::string> token_;
};

// Returns the header `traceparent`, or "" if there is none or it is invalid: W3C wants such a
// header to be ignored.
std::string TraceParentOf(const http_server::Request& request);

// Returns the sender of a request, for the audit.
inline engine::Actor ActorOf(const http_server::Request& request) {
    return {.user = request.caller.name,
            .client_ip = request.peer,
            .method = fmt::format("{} {}", NameOf(request.method), request.path),
            .request_id = request.request_id,
            .trace_parent = TraceParentOf(request)};
}

}  // namespace ksana::api
