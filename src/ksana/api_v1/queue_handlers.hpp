#pragma once

#include <memory>

#include "ksana/api_v1/frame.hpp"

namespace ksana::api_v1 {

// How much waits, for how long, and how fast it goes.
void AddQueueRoutes(http_server::Router& router, const std::shared_ptr<Desk>& desk);

}  // namespace ksana::api_v1
