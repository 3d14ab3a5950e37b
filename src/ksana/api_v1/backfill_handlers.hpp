#pragma once

#include "ksana/api_v1/frame.hpp"

namespace ksana::api_v1 {

// Runs for fires of the past.
void AddBackfillRoutes(http_server::Router& router, const std::shared_ptr<Desk>& desk);

}  // namespace ksana::api_v1
