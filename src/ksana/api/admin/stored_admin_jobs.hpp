#pragma once

#include "ksana/api/admin/admin_routes.hpp"
#include "ksana/model/job/job.hpp"

namespace ksana::engine {
class JobService;
}

namespace ksana::api {

// The jobs of a store, for `ksana server`. A job fires once in the whole cluster, so its mode is
// SINGLE_NODE. Owned by the server. Thread-safe: it has no state of its own. The store's errors
// are returned.
class StoredAdminJobs final : public AdminJobs {
  public:
    // The most jobs that List returns: the document's list has no pages.
    static constexpr std::size_t kMostJobs = 10'000;

    // Both must outlive the object.
    StoredAdminJobs(engine::JobService& jobs, store::Store& store) : jobs_(jobs), store_(store) {}

    Result<std::vector<AdminJob>> List() override;
    Result<AdminJob> Get(const std::string& id) override;
    // Obeys the overlap policy of the job.
    Result<void> Trigger(const std::string& id,
                         const std::map<std::string, std::string>& parameters,
                         const engine::Actor& by) override;
    // Changes nothing, and records nothing, if the job is as wished.
    Result<void> SetEnabled(const std::string& id, bool enabled, const engine::Actor& by) override;

  private:
    engine::JobService& jobs_;
    store::Store& store_;
};

}  // namespace ksana::api
