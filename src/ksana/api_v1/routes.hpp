#pragma once

#include "ksana/api_v1/frame.hpp"
#include "ksana/http_server/router.hpp"

namespace ksana::api_v1 {

// All of /api/v1, as openapi.json describes it.
void AddRoutes(http_server::Router& router, const Services& services);

}  // namespace ksana::api_v1
