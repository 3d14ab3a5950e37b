#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "ksana/api/edge/route_info.hpp"

namespace ksana::api {

// The description of /api/v1 (OpenAPI 3.1), made of its routes and of the schemas that they name.
// Routes are added before the server starts; the text is made when it is first asked for, by any
// thread, and kept. Owned by HandlerContext.
class Description {
  public:
    // `route` must live as long as this.
    void Add(const RouteInfo& route) { routes_.push_back(&route); }

    const std::string& Text() const;
    // Entity tag of the text.
    const std::string& EntityTag() const;

  private:
    void Make() const;

    std::vector<const RouteInfo*> routes_;
    mutable std::once_flag once_;
    mutable std::string text_;
    mutable std::string tag_;
};

}  // namespace ksana::api
