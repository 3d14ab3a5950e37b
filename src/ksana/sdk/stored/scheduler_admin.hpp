#pragma once

#include "ksana/api/admin/admin_routes.hpp"

namespace ksana::detail {
class SchedulerCore;
}

namespace ksana::sdk {

// The jobs of a scheduler for the admin routes: from memory, as the document has it. Thread-safe.
class SchedulerAdmin final : public api::AdminJobs {
  public:
    // `core` must outlive the object.
    explicit SchedulerAdmin(detail::SchedulerCore& core) : core_(core) {}

    Result<std::vector<api::AdminJob>> List() override;
    Result<api::AdminJob> Get(const std::string& id) override;
    Result<void> Trigger(const std::string& id,
                         const std::map<std::string, std::string>& parameters,
                         const engine::Actor& by) override;
    Result<void> SetEnabled(const std::string& id, bool enabled, const engine::Actor& by) override;

  private:
    detail::SchedulerCore& core_;
};

}  // namespace ksana::sdk
