#include "ksana/store_kit/kit_events.hpp"

#include "ksana/store_kit/audit_rows.hpp"
#include "ksana/store_kit/lists.hpp"
#include "ksana/store_kit/text_checks.hpp"

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

}  // namespace ksana::store_kit
