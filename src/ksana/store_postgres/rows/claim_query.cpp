#include "ksana/store_postgres/rows/claim_query.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/store_postgres/rows/packed_run.hpp"
#include "ksana/store_postgres/rows/run_columns.hpp"

namespace ksana::store_postgres {
namespace {

// The types that have something ready of this kind ($1), by a leap through the index for each.
constexpr std::string_view kReadyTypes =
    "WITH RECURSIVE types AS ("
    "(SELECT type FROM ksana.runs WHERE state = 1 AND NOT blocked AND kind = $1::smallint "
    "ORDER BY type LIMIT 1) UNION ALL "
    "SELECT (SELECT r.type FROM ksana.runs r WHERE r.state = 1 AND NOT r.blocked "
    "AND r.kind = $1::smallint AND r.type > types.type ORDER BY r.type LIMIT 1) "
    "FROM types WHERE types.type IS NOT NULL) ";

// Conditions beside kind and type; adds their parameters.
std::string FilterText(const store::ClaimFilter& filter, const std::vector<Uuid>& held,
                       Params& params) {
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
    // A CASE, of which the planner expects every second row to pass: it takes a plain <@ for rare,
    // and then reads and sorts the whole table instead of the first rows of the index.
    params.Array(PairTexts(filter.labels));
    sql += fmt::format(
        " AND CASE WHEN r.selector IS NULL THEN true ELSE r.selector <@ ${}::text[] END",
        params.size());
    // A sub-select, which the server makes a hash table of; an array it would search from end to
    // end for every row. Left out when there is none: two statements, but a lone claim does not
    // pay.
    if (!held.empty()) {
        params.Array(held);
        sql += fmt::format(" AND r.id NOT IN (SELECT unnest(${}::uuid[]))", params.size());
    }
    return sql;
}

// Each once: what the statement has locked for one mention it would find again for the next.
std::vector<std::string> Wanted(const store::ClaimFilter& filter) {
    std::vector<std::string> types = filter.types;
    for (const std::string& type : filter.without) std::erase(types, type);
    std::ranges::sort(types);
    const auto repeated = std::ranges::unique(types);
    types.erase(repeated.begin(), repeated.end());
    return types;
}

}  // namespace

// Of one type the first that are not locked are taken straight from the index. Of several the first
// of each are put in order before any is locked: no more are than are given. Those that others have
// locked meanwhile are left out; as many again stand in for them.
Statement ClaimQuery(const store::ClaimFilter& filter, std::size_t limit,
                     const std::vector<Uuid>& held) {
    constexpr std::int64_t kChoice = 2;
    const std::vector<std::string> wanted = Wanted(filter);
    Statement statement;
    Params& params = statement.params;
    params.Add(Small(filter.kind));
    params.Add(static_cast<std::int64_t>(limit));
    const std::string conditions =
        fmt::format("r.state = 1 AND NOT r.blocked AND r.kind = $1::smallint{}",
                    FilterText(filter, held, params));
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
    // The row is found by its id, one after the other until there are enough, and looked at again:
    // it may have changed since.
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
