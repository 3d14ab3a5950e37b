#pragma once

#include <map>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/dialects/admin_job.hpp"
#include "ksana/engine/actor.hpp"
#include "ksana/http_server/routing/router.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {
class RunService;
}

namespace ksana::api {

using codec::AdminJob;

// The jobs that the admin dialect shows: those of a server (StoredAdminJobs), or those of a program
// with the library inside. Must be thread-safe: pool threads call it concurrently.
class AdminJobs {
  public:
    virtual ~AdminJobs() = default;

    // Returns the jobs in order of their ids.
    virtual Result<std::vector<AdminJob>> List() = 0;
    // Get, Trigger and SetEnabled: kNotFound if there is no such job.
    virtual Result<AdminJob> Get(const std::string& id) = 0;
    // Starts the job once, even if it is disabled. A run that must not overlap with one under way
    // is skipped, which is no error.
    virtual Result<void> Trigger(const std::string& id,
                                 const std::map<std::string, std::string>& parameters,
                                 const engine::Actor& by) = 0;
    virtual Result<void> SetEnabled(const std::string& id, bool enabled,
                                    const engine::Actor& by) = 0;
};

// What the routes of document N call. All references must outlive the router.
struct AdminServices {
    AdminJobs& jobs;
    store::Store& store;  // has the log: the runs that have ended
    engine::RunService& runs;
};

// Adds /admin/job/… and /admin/job-log/… of document N (N-19).
void AddAdminRoutes(http_server::Router& router, AdminServices services);

}  // namespace ksana::api
