#include "ksana/store_kit/documents/kit_events.hpp"

#include "ksana/store/run_store.hpp"
#include "ksana/store_kit/documents/text_checks.hpp"
#include "ksana/store_kit/lists/lists.hpp"

namespace ksana::store_kit {

using model::AuditEvent;

Result<void> KitEvents::Append(std::vector<AuditEvent> events) {
    KSANA_TRY_VOID(CheckBatch(events.size(), "/events"));
    std::vector<Problem> problems;
    for (std::size_t i = 0; i < events.size(); ++i) {
        CheckEvent(events[i], Path("/events", i), problems);
        events[i].seq = 0;
    }
    KSANA_TRY_VOID(Verdict(std::move(problems)));
    return backend_.Write([&](Transaction& tx) -> Result<void> {
        tx.Touch(store::Topic::kEvents);
        return tx.InsertEvents(events);
    });
}

Result<store::Page<AuditEvent>> KitEvents::List(const store::EventQuery& query) {
    const std::string_view order = query.descending ? "-seq" : "seq";
    EventList list{.filter = query.filter, .descending = query.descending};
    KSANA_TRY(list.limit, CheckLimit(query.limit));
    KSANA_TRY(const std::int64_t after, ParseSeq(order, query.cursor));
    if (!query.cursor.empty()) list.after = after;
    store::Page<AuditEvent> page;
    KSANA_TRY_VOID(backend_.Read([&](Reader& rows) -> Result<void> {
        KSANA_TRY(page.items, rows.ListEvents(list));
        return {};
    }));
    if (page.items.size() == list.limit) page.next = SeqCursor(order, page.items.back().seq);
    return page;
}

Result<std::size_t> KitEvents::Purge(TimePoint before, std::size_t limit) {
    KSANA_TRY_VOID(CheckBatch(limit, "/limit"));
    std::size_t purged = 0;
    KSANA_TRY_VOID(backend_.Write([&](Transaction& tx) -> Result<void> {
        KSANA_TRY(purged, tx.PurgeEvents(before, limit));
        return {};
    }));
    return purged;
}

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
