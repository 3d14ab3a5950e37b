#pragma once

#include "ksana/api/edge/frame.hpp"
#include "ksana/http_server/routing/router.hpp"

namespace ksana::api {

// Adds all routes of /api/v1, as openapi.json describes them.
void AddRoutes(http_server::Router& router, const Services& services);

}  // namespace ksana::api
