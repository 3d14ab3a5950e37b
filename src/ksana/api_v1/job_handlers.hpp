#pragma once

#include <memory>

#include "ksana/api_v1/frame.hpp"

namespace ksana::api_v1 {

// /jobs and /jobs/{id} with its verbs; the lists are in job_lists.hpp.
void AddJobRoutes(http_server::Router& router, const std::shared_ptr<Desk>& desk);

}  // namespace ksana::api_v1
