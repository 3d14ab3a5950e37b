#pragma once

#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/engine/services/job_service.hpp"
#include "ksana/http_server/routing/router.hpp"

namespace ksana::server {

// What the first minute shows: a target in this very process, and a job that calls it every five
// seconds.
inline constexpr const char* kDemoJob = "demo";
inline constexpr const char* kDemoPath = "/demo/hello";

void AddDemoRoutes(http_server::Router& router);

// Makes the job, or points the one that is there to where this server is now.
Result<void> MakeDemoJob(engine::JobService& service, const std::string& server_url);

}  // namespace ksana::server
