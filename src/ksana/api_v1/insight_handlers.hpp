#pragma once

#include <memory>

#include "ksana/api_v1/frame.hpp"

namespace ksana::api_v1 {

// What happened to a fire and why, preview of a schedule, simulation. They change nothing.
void AddInsightRoutes(http_server::Router& router, const std::shared_ptr<Desk>& desk);

}  // namespace ksana::api_v1
