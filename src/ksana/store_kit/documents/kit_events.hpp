#pragma once

#include <optional>
#include <vector>

#include "ksana/model/audit_event.hpp"
#include "ksana/store/event_store.hpp"
#include "ksana/store_kit/documents/text_checks.hpp"
#include "ksana/store_kit/driver/backend.hpp"
#include "ksana/store_kit/driver/transaction.hpp"

namespace ksana::store_kit {

// store::EventStore on top of a driver. `backend` must outlive it. Thread-safe.
class KitEvents final : public store::EventStore {
  public:
    explicit KitEvents(Backend& backend) : backend_(backend) {}

    Result<void> Append(std::vector<model::AuditEvent> events) override;
    Result<store::Page<model::AuditEvent>> List(const store::EventQuery& query) override;
    Result<std::size_t> Purge(TimePoint before, std::size_t limit) override;

  private:
    Backend& backend_;
};

// Adds a problem for each invalid text of the event.
void CheckEvent(const model::AuditEvent& event, const Path& path, std::vector<Problem>& problems);
// Returns kInvalidArgument if the event of another write is invalid.
Result<void> CheckAudit(const std::optional<model::AuditEvent>& audit);

// Stores events in the transaction of the change they describe, so that neither exists without the
// other.
Result<void> KeepAudit(Transaction& tx, TimePoint now, std::vector<model::AuditEvent> events);
// Does nothing if there is no event.
Result<void> KeepAudit(Transaction& tx, TimePoint now,
                       const std::optional<model::AuditEvent>& audit);

}  // namespace ksana::store_kit
