#pragma once

#include <optional>
#include <vector>

#include "ksana/model/audit_event.hpp"
#include "ksana/store_kit/text_checks.hpp"
#include "ksana/store_kit/transaction.hpp"

namespace ksana::store_kit {

void CheckEvent(const model::AuditEvent& event, const Path& path, std::vector<Problem>& problems);
// Of the one that goes with another write.
Result<void> CheckAudit(const std::optional<model::AuditEvent>& audit);

// Stores events in the transaction of what they tell of: neither is there without the other.
Result<void> KeepAudit(Transaction& tx, TimePoint now, std::vector<model::AuditEvent> events);
// Nothing where there is none.
Result<void> KeepAudit(Transaction& tx, TimePoint now,
                       const std::optional<model::AuditEvent>& audit);

}  // namespace ksana::store_kit
