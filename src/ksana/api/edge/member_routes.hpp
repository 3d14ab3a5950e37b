#pragma once

#include <memory>
#include <utility>

#include "ksana/http_server/routing/router.hpp"

namespace ksana::api {

// Adds routes whose handlers are member functions of one object. The routes share ownership of that
// object and call it on the pool, several threads at a time.
template <class Handlers>
class MemberRoutes {
  public:
    MemberRoutes(http_server::Router& router, std::shared_ptr<const Handlers> handlers)
        : router_(router), handlers_(std::move(handlers)) {}

    template <class Member>
    void operator()(HttpMethod method, const char* pattern, http_server::Permission permission,
                    const char* description, Member member) const {
        router_.Add(
            http_server::Route(method, pattern, permission, description, http_server::Where::kPool,
                               http_server::Handler([handlers = handlers_,
                                                     member](const http_server::Request& request) {
                                   return ((*handlers).*member)(request);
                               })));
    }

  private:
    http_server::Router& router_;
    const std::shared_ptr<const Handlers> handlers_;
};

}  // namespace ksana::api
