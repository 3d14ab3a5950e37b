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

// Builds the description of /api/v1 (OpenAPI 3.1) from its routes and the schemas they name. Owned
// by HandlerContext. Add is called before the server starts; Text is thread-safe, builds the text
// on its first call and keeps it.
class Description {
  public:
    // `route` must outlive the object.
    void Add(const RouteInfo& route) { routes_.push_back(&route); }

    std::shared_ptr<const DescriptionText> Text() const;

  private:
    std::vector<const RouteInfo*> routes_;
    mutable Mutex mutex_;
    mutable std::shared_ptr<const DescriptionText> text_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::api
