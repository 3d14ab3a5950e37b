#pragma once

#include <string>

#include "ksana/base/result.hpp"
#include "ksana/engine/job_desk.hpp"
#include "ksana/http_server/router.hpp"

namespace ksana::server {

// What the first minute shows: a target in this very process, and a job that calls it every five
// seconds.
inline constexpr const char* kDemoJob = "demo";
inline constexpr const char* kDemoPath = "/demo/hello";

void AddDemoRoutes(http_server::Router& router);

// Makes the job, or points the one that is there to where this server is now.
Result<void> MakeDemoJob(engine::JobDesk& desk, const std::string& server_url);

}  // namespace ksana::server
