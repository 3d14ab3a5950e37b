#pragma once

#include "ksana/api_v1/frame.hpp"

namespace ksana::api_v1 {

// Under /api/v1/alerts and /api/v1/alert-incidents: who is told of what, and what there is to tell.
void AddAlertRoutes(http_server::Router& router, const std::shared_ptr<Desk>& desk);

}  // namespace ksana::api_v1
