#pragma once

#include "ksana/store/event_store.hpp"
#include "ksana/store_kit/backend.hpp"

namespace ksana::store_kit {

class KitEvents final : public store::EventStore {
  public:
    explicit KitEvents(Backend& backend) : backend_(backend) {}

    Result<void> Append(std::vector<model::AuditEvent> events) override;
    Result<store::Page<model::AuditEvent>> List(const store::EventQuery& query) override;
    Result<std::size_t> Purge(TimePoint before, std::size_t limit) override;

  private:
    Backend& backend_;
};

}  // namespace ksana::store_kit
