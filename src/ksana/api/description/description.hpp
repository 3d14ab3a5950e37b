#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ksana/api/edge/route_info.hpp"
#include "ksana/base/process/mutex.hpp"

namespace ksana::api {

// The description as it is served.
struct DescriptionText {
    std::string json;
    std::string entity_tag;
};

// The description of /api/v1 (OpenAPI 3.1), made of its routes and of the schemas that they name.
// Routes are added before the server starts; the text is made when it is first asked for, by any
// thread, and kept. Owned by HandlerContext.
class Description {
  public:
    // `route` must live as long as this.
    void Add(const RouteInfo& route) { routes_.push_back(&route); }

    std::shared_ptr<const DescriptionText> Text() const;

  private:
    std::vector<const RouteInfo*> routes_;
    mutable Mutex mutex_;
    mutable std::shared_ptr<const DescriptionText> text_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::api
