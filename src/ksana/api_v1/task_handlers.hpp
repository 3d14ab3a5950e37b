#pragma once

#include <memory>

#include "ksana/api_v1/frame.hpp"

namespace ksana::api_v1 {

// Tasks come in, one by one or by the thousand.
void AddTaskRoutes(http_server::Router& router, const std::shared_ptr<Desk>& desk);

}  // namespace ksana::api_v1
