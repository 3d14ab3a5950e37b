#include <fmt/core.h>

#include "ksana/store_sqlite/lists/list_sql.hpp"

namespace ksana::store_sqlite {

using store::EventFilter;
using store_kit::EventList;
using store_kit::LedgerList;

namespace {

// Returns the most selective index in the order of seq.
std::string_view EventIndex(const EventFilter& filter) {
    if (!filter.resource_id.empty()) return "INDEXED BY events_resource";
    if (!filter.user.empty()) return "INDEXED BY events_user";
    if (!filter.resource_type.empty()) return "INDEXED BY events_resource_type";
    if (!filter.action.empty()) return "INDEXED BY events_action";
    if (!filter.tenant.empty() && filter.tenant != model::AuditEvent{}.tenant) {
        return "INDEXED BY events_tenant";
    }
    return "NOT INDEXED";
}

}  // namespace

ListSql EventListSql(const EventList& list, const std::optional<store_kit::SeqRange>& range) {
    const EventFilter& filter = list.filter;
    ListSql sql;
    sql.text = fmt::format(
        "SELECT seq, at, tenant, action, user, resource_type, resource_id, old_object, "
        "new_object, data, client_ip, method FROM events {}",
        EventIndex(filter));
    if (filter.tenant != model::AuditEvent{}.tenant && !filter.tenant.empty()) {
        sql.Where("tenant<>'default'");
    }
    if (!filter.tenant.empty()) sql.Where("tenant=?", filter.tenant);
    if (!filter.user.empty()) sql.Where("user=?", filter.user);
    if (!filter.action.empty()) sql.Where("action=?", filter.action);
    if (!filter.resource_type.empty()) sql.Where("resource_type=?", filter.resource_type);
    if (!filter.resource_id.empty()) sql.Where("resource_id=?", filter.resource_id);
    if (filter.from) sql.Where("at>=?", Micros(*filter.from));
    if (filter.until) sql.Where("at<?", Micros(*filter.until));
    if (range) {
        sql.Where("seq>=?", range->first);
        sql.Where("seq<=?", range->last);
    } else if (list.after) {
        sql.Where(list.descending ? "seq<?" : "seq>?", *list.after);
    }
    sql.text += list.descending ? " ORDER BY seq DESC LIMIT ?" : " ORDER BY seq LIMIT ?";
    sql.values.emplace_back(static_cast<std::int64_t>(list.limit));
    return sql;
}

ListSql LedgerListSql(const LedgerList& list) {
    ListSql sql;
    sql.text =
        fmt::format("SELECT seq, job_id, fate, count, first, last, recorded_at FROM ledger {}",
                    list.job_id.empty() ? "NOT INDEXED" : "INDEXED BY ledger_job");
    if (!list.job_id.empty()) sql.Where("job_id=?", list.job_id);
    sql.Where("seq>?", list.after);
    if (list.from) sql.Where("last>=?", Micros(*list.from));
    if (list.until) sql.Where("first<?", Micros(*list.until));
    sql.text += " ORDER BY seq LIMIT ?";
    sql.values.emplace_back(static_cast<std::int64_t>(list.limit));
    return sql;
}

}  // namespace ksana::store_sqlite
