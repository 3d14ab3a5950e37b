#pragma once

#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/engine/services/job_service.hpp"
#include "ksana/http_server/routing/router.hpp"

namespace ksana::server {

// The demo: a target in this process, and a job that calls it every five seconds.
inline constexpr const char* kDemoJob = "demo";
inline constexpr const char* kDemoPath = "/demo/hello";

void AddDemoRoutes(http_server::Router& router);

// Creates the demo job, or points the existing one to `server_url`.
Result<void> MakeDemoJob(engine::JobService& service, const std::string& server_url);

}  // namespace ksana::server
