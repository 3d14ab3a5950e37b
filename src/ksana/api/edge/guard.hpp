#pragma once

#include <optional>
#include <string>

#include <fmt/core.h>

#include "ksana/engine/actor.hpp"
#include "ksana/http_server/routing/message.hpp"
#include "ksana/http_server/routing/router.hpp"

namespace ksana::api {

// Who may do what, as long as there is one token for all or none: with a token every route that is
// not public wants it as "Authorization: Bearer …"; without one everybody who reaches the address
// may do everything, which is why a server without a token listens on loopback only. A browser on
// the same machine reaches it too, so a request that changes something and comes from the page of
// another origin is refused.
class Guard {
  public:
    explicit Guard(std::optional<std::string> token) : token_(std::move(token)) {}

    Result<http_server::Caller> Check(const http_server::Request& request,
                                      http_server::Permission permission) const;

  private:
    const std::optional<std::string> token_;
};

// Who sent a request, for the audit.
inline engine::Actor ActorOf(const http_server::Request& request) {
    return {.user = request.caller.name,
            .client_ip = request.peer,
            .method = fmt::format("{} {}", NameOf(request.method), request.path),
            .request_id = request.request_id};
}

}  // namespace ksana::api
