#pragma once

#include "ksana/api_v1/frame.hpp"

namespace ksana::api_v1 {

// Under /api/v1/callbacks: what became of callbacks, and dead letters sent again.
void AddCallbackRoutes(http_server::Router& router, const std::shared_ptr<Desk>& desk);

}  // namespace ksana::api_v1
