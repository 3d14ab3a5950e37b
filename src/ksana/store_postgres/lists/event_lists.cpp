#include <fmt/core.h>

#include <algorithm>

#include "ksana/store_kit/driver/event_windows.hpp"
#include "ksana/store_postgres/lists/conditions.hpp"
#include "ksana/store_postgres/rows/postgres_transaction.hpp"

// Lists of audit events.

namespace ksana::store_postgres {
namespace {

using model::AuditEvent;
using store_kit::EventList;
using store_kit::SeqRange;

AuditEvent ReadEvent(RowReader row) {
    AuditEvent event;
    event.seq = row.Int64();
    event.at = row.Time();
    event.tenant = row.Text();
    event.action = row.Text();
    event.user = row.Text();
    event.resource_type = row.Text();
    event.resource_id = row.Text();
    event.old_object = row.Text();
    event.new_object = row.Text();
    event.data = row.Text();
    event.client_ip = row.Text();
    event.method = row.Text();
    return event;
}

struct Column {
    std::string_view name;
    const std::string& value;
};

// Returns the most selective column of the filter that has an index in the order of seq; none if
// there is none.
std::optional<Column> NarrowestOf(const store::EventFilter& filter) {
    if (!filter.resource_id.empty()) return Column{"resource_id", filter.resource_id};
    if (!filter.user.empty()) return Column{"user_name", filter.user};
    if (!filter.resource_type.empty()) return Column{"resource_type", filter.resource_type};
    if (!filter.action.empty()) return Column{"action", filter.action};
    if (!filter.tenant.empty() && filter.tenant != "default") {
        return Column{"tenant", filter.tenant};
    }
    return {};
}

// Adds the range of seq. The bound at which the list begins is a row comparison over both columns
// of the index, and the list is ordered by both, so that the planner can use no other index: it
// does not know how many events have the value, and would otherwise walk along seq until it has
// found enough. The other bound is checked within the index.
void AddRange(Conditions& where, const EventList& list, const std::optional<Column>& column,
              const SeqRange& range) {
    const std::size_t first = where.Number(range.first);
    const std::size_t last = where.Number(range.last);
    if (!column) {
        return where.And(fmt::format("seq >= ${}::bigint AND seq <= ${}::bigint", first, last));
    }
    const std::size_t value = where.Number(column->value);
    where.And(list.descending ? fmt::format("({0}, seq) <= (${1}::text, ${3}::bigint) "
                                            "AND {0} >= ${1}::text AND seq >= ${2}::bigint",
                                            column->name, value, first, last)
                              : fmt::format("({0}, seq) >= (${1}::text, ${2}::bigint) "
                                            "AND {0} <= ${1}::text AND seq <= ${3}::bigint",
                                            column->name, value, first, last));
}

// Adds the conditions of the filter, except for the column `known`.
void AddFilter(Conditions& where, const store::EventFilter& filter, std::string_view known) {
    const auto add = [&](std::string_view name, const std::string& value) {
        if (value.empty() || name == known) return;
        const std::size_t number = where.Number(value);
        where.And(fmt::format("{} = ${}::text", name, number));
    };
    add("tenant", filter.tenant);
    if (!filter.tenant.empty() && filter.tenant != "default") where.And("tenant <> 'default'");
    add("user_name", filter.user);
    add("action", filter.action);
    add("resource_type", filter.resource_type);
    add("resource_id", filter.resource_id);
    if (filter.from) where.Add("at >= ${}::bigint", Micros(*filter.from));
    if (filter.until) where.Add("at < ${}::bigint", Micros(*filter.until));
}

// Returns SQL that walks from one existing block to the next, until a block has an event of the
// span ($3 to $4). A scalar subquery tests each block: it goes to the first entry at or after $3 in
// (block, at), an order that only one index has, and checks whether that entry is in the block and
// in the span.
std::string SelectNearestBlock(bool descending) {
    const std::string_view order = descending ? "seq DESC" : "seq";
    constexpr std::string_view kHit =
        "coalesce((SELECT h.seq >> 12 = e.block AND h.at < $4::bigint FROM ksana.audit_events h "
        "WHERE (h.seq >> 12, h.at) >= (e.block, $3::bigint) "
        "ORDER BY h.seq >> 12, h.at LIMIT 1), false)";
    constexpr std::string_view kNext =
        "SELECT seq >> 12 AS block FROM ksana.audit_events WHERE seq BETWEEN {} AND {} "
        "ORDER BY {} LIMIT 1";
    const std::string first = fmt::format(fmt::runtime(kNext), "$1::bigint", "$2::bigint", order);
    const std::string next =
        descending ? fmt::format(fmt::runtime(kNext), "$1::bigint", "(b.block << 12) - 1", order)
                   : fmt::format(fmt::runtime(kNext), "(b.block + 1) << 12", "$2::bigint", order);
    return fmt::format(
        "WITH RECURSIVE b(block, hit) AS (SELECT e.block, {0} FROM ({1}) e UNION ALL "
        "SELECT e.block, {0} FROM b CROSS JOIN LATERAL ({2}) e WHERE NOT b.hit AND {3}) "
        "SELECT block FROM b WHERE hit",
        kHit, first, next,
        descending ? "b.block > $1::bigint >> 12" : "b.block < $2::bigint >> 12");
}

}  // namespace

Result<std::optional<std::int64_t>> PostgresTransaction::NearestBlock(
    const store::EventFilter& filter, const SeqRange& range, bool descending) {
    static const std::string kDown = SelectNearestBlock(true);
    static const std::string kUp = SelectNearestBlock(false);
    const std::optional<std::int64_t> from = Micros(filter.from);
    const std::optional<std::int64_t> until = Micros(filter.until);
    KSANA_TRY(const Rows rows,
              session_.Query(descending ? kDown : kUp, Params()
                                                           .Add(range.first)
                                                           .Add(range.last)
                                                           .Add(from.value_or(INT64_MIN))
                                                           .Add(until.value_or(INT64_MAX))));
    if (rows.size() == 0) return std::optional<std::int64_t>();
    return std::optional(RowReader(rows, 0).Int64());
}

Result<std::vector<AuditEvent>> PostgresTransaction::EventsWithin(const EventList& list,
                                                                  const SeqRange& range,
                                                                  std::size_t count) {
    const std::optional<Column> column = NarrowestOf(list.filter);
    Conditions where;
    AddRange(where, list, column, range);
    AddFilter(where, list.filter, column ? column->name : "");
    const std::size_t limit = where.Number(static_cast<std::int64_t>(count));
    const std::string_view direction = list.descending ? " DESC" : "";
    const std::string before = column ? fmt::format("{}{}, ", column->name, direction) : "";
    KSANA_TRY(
        const Rows rows,
        session_.QueryBuilt(
            fmt::format("SELECT seq, at, tenant, action, user_name, resource_type, resource_id, "
                        "old_object, new_object, data, client_ip, method FROM ksana.audit_events{} "
                        "ORDER BY {}seq{} LIMIT ${}::bigint",
                        where.text(), before, direction, limit),
            where.Take()));
    std::vector<AuditEvent> events;
    for (std::size_t i = 0; i < rows.size(); ++i) events.push_back(ReadEvent(RowReader(rows, i)));
    return events;
}

// Lists the events between the first and the last block that have events of the span.
Result<std::vector<AuditEvent>> PostgresTransaction::EventsBetweenBlocks(const EventList& list,
                                                                         SeqRange range) {
    KSANA_TRY(const auto low, NearestBlock(list.filter, range, false));
    KSANA_TRY(const auto high, NearestBlock(list.filter, range, true));
    if (!low || !high) return std::vector<AuditEvent>();
    range.first = std::max(range.first, store_kit::RangeOfBlock(*low).first);
    range.last = std::min(range.last, store_kit::RangeOfBlock(*high).last);
    return EventsWithin(list, range, list.limit);
}

Result<std::vector<AuditEvent>> PostgresTransaction::ListEvents(const EventList& list) {
    SeqRange left;
    if (list.after && !store_kit::DropUpTo(left, *list.after, list.descending)) {
        return std::vector<AuditEvent>();
    }
    if (!store_kit::HasSpan(list)) return EventsWithin(list, left, list.limit);
    if (NarrowestOf(list.filter)) return EventsBetweenBlocks(list, left);
    return store_kit::ListEventsOfSpan(
        list, {.nearest_block =
                   [&](const SeqRange& range) {
                       return NearestBlock(list.filter, range, list.descending);
                   },
               .within = [&](const SeqRange& range,
                             std::size_t limit) { return EventsWithin(list, range, limit); }});
}

}  // namespace ksana::store_postgres
