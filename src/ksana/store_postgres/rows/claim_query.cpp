#include "ksana/store_postgres/rows/claim_query.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/store_postgres/rows/packed_run.hpp"
#include "ksana/store_postgres/rows/run_columns.hpp"

namespace ksana::store_postgres {
namespace {

// Finds the types with ready runs of this kind ($1), with one index lookup for each type.
constexpr std::string_view kReadyTypes =
    "WITH RECURSIVE types AS ("
    "(SELECT type FROM ksana.runs WHERE state = 1 AND NOT blocked AND kind = $1::smallint "
    "ORDER BY type LIMIT 1) UNION ALL "
    "SELECT (SELECT r.type FROM ksana.runs r WHERE r.state = 1 AND NOT r.blocked "
    "AND r.kind = $1::smallint AND r.type > types.type ORDER BY r.type LIMIT 1) "
    "FROM types WHERE types.type IS NOT NULL) ";

// Returns the conditions besides kind and type; adds their parameters.
std::string FilterText(const store::ClaimFilter& filter, TimePoint now,
                       const std::vector<Uuid>& held, Params& params) {
    std::string sql;
    if (!filter.tenant.empty()) {
        params.Add(filter.tenant);
        sql += fmt::format(" AND r.tenant = ${}::text", params.size());
    }
    if (!filter.creator.empty()) {
        params.Add(filter.creator);
        sql += fmt::format(" AND r.creator = ${}::text", params.size());
    }
    if (!filter.categories.empty()) {
        params.Array(filter.categories);
        sql += fmt::format(" AND coalesce(r.category, '') = ANY(${}::text[])", params.size());
    }
    // The planner expects a CASE to accept every second row. It takes a plain <@ for rare, and then
    // reads and sorts the whole table instead of the first rows of the index.
    params.Array(PairTexts(filter.labels));
    sql += fmt::format(
        " AND CASE WHEN r.selector IS NULL THEN true ELSE r.selector <@ ${}::text[] END",
        params.size());
    const std::size_t labels = params.size();
    const std::size_t at = params.Add(Micros(now)).size();
    sql += fmt::format(
        " AND CASE WHEN r.prefer IS NULL THEN true ELSE r.attempt > 0 "
        "OR r.ready_at + r.prefer_for <= ${}::bigint OR r.prefer <@ ${}::text[] END",
        at, labels);
    if (filter.only_selective) sql += " AND r.selector IS NOT NULL";
    // The server builds a hash table from a sub-select; it would search an array from end to end
    // for every row. Left out when `held` is empty, so that a claim without concurrent claims does
    // not pay for it.
    if (!held.empty()) {
        params.Array(held);
        sql += fmt::format(" AND r.id NOT IN (SELECT unnest(${}::uuid[]))", params.size());
    }
    return sql;
}

// Returns each type once: the statement would find the runs that it has locked for one mention
// again for the next.
std::vector<std::string> Wanted(const store::ClaimFilter& filter) {
    std::vector<std::string> types = filter.types;
    for (const std::string& type : filter.without) std::erase(types, type);
    std::ranges::sort(types);
    const auto repeated = std::ranges::unique(types);
    types.erase(repeated.begin(), repeated.end());
    return types;
}

}  // namespace

// With one type, the first unlocked runs are taken straight from the index. With several types, the
// first runs of each type are put in order before any is locked, so that no more are locked than
// returned. Candidates that other transactions have locked meanwhile are skipped; kChoice times
// `limit` candidates make up for them.
Statement ClaimQuery(const store::ClaimFilter& filter, TimePoint now, std::size_t limit,
                     const std::vector<Uuid>& held) {
    constexpr std::int64_t kChoice = 2;
    const std::vector<std::string> wanted = Wanted(filter);
    Statement statement;
    Params& params = statement.params;
    params.Add(Small(filter.kind));
    params.Add(static_cast<std::int64_t>(limit));
    const std::string conditions =
        fmt::format("r.state = 1 AND NOT r.blocked AND r.kind = $1::smallint{}",
                    FilterText(filter, now, held, params));
    if (wanted.size() == 1) {
        params.Add(wanted.front());
        statement.owned = fmt::format(
            "SELECT {}, r.ctid FROM ksana.runs r WHERE {} AND r.type = ${}::text "
            "ORDER BY r.rank, r.id LIMIT $2::bigint FOR UPDATE SKIP LOCKED",
            RunColumnList("r."), conditions, params.size());
        return statement;
    }
    std::string types = "types";
    std::string others;
    if (filter.types.empty()) {
        statement.owned = kReadyTypes;
        if (!filter.without.empty()) {
            params.Array(filter.without);
            others = fmt::format(" AND types.type <> ALL(${}::text[])", params.size());
        }
    } else {
        params.Array(wanted);
        types = fmt::format("unnest(${}::text[]) AS types(type)", params.size());
    }
    const std::size_t choice = params.Add(kChoice * static_cast<std::int64_t>(limit)).size();
    // Each row is looked up by its id, one after the other until there are enough, and checked
    // again: it may have changed meanwhile.
    statement.owned += fmt::format(
        "SELECT {}, l.place FROM (SELECT c.id, c.rank FROM {} CROSS JOIN LATERAL ("
        "SELECT r.id, r.rank FROM ksana.runs r WHERE {} AND r.type = types.type "
        "ORDER BY r.rank, r.id LIMIT ${}::bigint) c WHERE types.type IS NOT NULL{} "
        "ORDER BY c.rank, c.id LIMIT ${}::bigint) f CROSS JOIN LATERAL ("
        "SELECT {}, r.ctid AS place FROM ksana.runs r WHERE r.id = f.id AND r.state = 1 "
        "AND NOT r.blocked FOR UPDATE SKIP LOCKED) l ORDER BY f.rank, f.id LIMIT $2::bigint",
        RunColumnList("l."), types, conditions, choice, others, choice, RunColumnList("r."));
    return statement;
}

}  // namespace ksana::store_postgres
