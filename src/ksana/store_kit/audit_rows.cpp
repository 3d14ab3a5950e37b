#include "ksana/store_kit/audit_rows.hpp"

#include "ksana/store/run_store.hpp"

namespace ksana::store_kit {

using model::AuditEvent;

void CheckEvent(const AuditEvent& event, const Path& path, std::vector<Problem>& problems) {
    CheckText(event.tenant, store::kMaxText, path / "tenant", problems);
    CheckText(event.action, store::kMaxText, path / "action", problems);
    CheckText(event.user, store::kMaxText, path / "user", problems);
    CheckText(event.resource_type, store::kMaxText, path / "resource_type", problems);
    CheckText(event.resource_id, store::kMaxText, path / "resource_id", problems);
    CheckText(event.client_ip, store::kMaxText, path / "client_ip", problems);
    CheckText(event.method, store::kMaxText, path / "method", problems);
    CheckText(event.old_object, store::kMaxPayload, path / "old_object", problems);
    CheckText(event.new_object, store::kMaxPayload, path / "new_object", problems);
    CheckText(event.data, store::kMaxPayload, path / "data", problems);
}

Result<void> CheckAudit(const std::optional<AuditEvent>& audit) {
    if (!audit) return {};
    std::vector<Problem> problems;
    CheckEvent(*audit, Path("/audit"), problems);
    return Verdict(std::move(problems));
}

Result<void> KeepAudit(Transaction& tx, TimePoint now, std::vector<AuditEvent> events) {
    if (events.empty()) return {};
    for (AuditEvent& event : events) {
        event.seq = 0;
        event.at = now;
    }
    tx.Touch(store::Topic::kEvents);
    return tx.InsertEvents(events);
}

Result<void> KeepAudit(Transaction& tx, TimePoint now, const std::optional<AuditEvent>& audit) {
    if (!audit) return {};
    return KeepAudit(tx, now, std::vector<AuditEvent>{*audit});
}

}  // namespace ksana::store_kit
