#pragma once

#include "ksana/api/edge/frame.hpp"
#include "ksana/http_server/routing/router.hpp"

namespace ksana::api {

// All of /api/v1, as openapi.json describes it.
void AddRoutes(http_server::Router& router, const Services& services);

}  // namespace ksana::api
