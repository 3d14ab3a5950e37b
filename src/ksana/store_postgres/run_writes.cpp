#include "ksana/store_postgres/run_writes.hpp"

#include <fmt/core.h>

namespace ksana::store_postgres {
namespace {

void Append(std::string& list, std::string_view item) {
    if (!list.empty()) list += ", ";
    list += item;
}

// The parameters of a statement and what it says about them.
struct Columns {
    Params params;
    std::string arrays;  // "$1::uuid[], …"
    std::string names;   // "id, …", in the order of the arrays

    void Take(const RunColumn& column, const RunRows& rows) {
        column.add(params, rows);
        Append(arrays, fmt::format("${}::{}[]", params.size(), column.type));
        Append(names, column.name);
    }
    std::string From() const { return fmt::format("unnest({}) AS v({})", arrays, names); }
};

std::string ValueOf(const RunColumn& column) {
    if (column.name == "selector") return "v.selector::text[]";
    return fmt::format("v.{}", column.name);
}

bool OnlyInRuns(const RunColumn& column) {
    return column.name == "rank" || column.name == "expires_at";
}

}  // namespace

Statement InsertRunsStatement(const RunRows& rows, InsertMode mode) {
    const bool final = mode.final;
    const RunGroups groups = GroupsIn(rows);
    Columns columns;
    std::string names;
    std::string values;
    for (const RunColumn& column : RunColumns()) {
        if (!Has(groups, column.group) || (final && OnlyInRuns(column))) continue;
        columns.Take(column, rows);
        Append(names, column.name);
        Append(values, ValueOf(column));
    }
    const std::string_view other = final ? "runs" : "finished_runs";
    std::string sql = fmt::format(
        "INSERT INTO ksana.{} ({}) SELECT {} FROM {} "
        "WHERE NOT EXISTS (SELECT FROM ksana.{} o WHERE o.id = v.id)",
        final ? "finished_runs" : "runs", names, values, columns.From(), other);
    if (Has(groups, RunGroup::kJob)) {
        sql += fmt::format(
            " AND NOT EXISTS (SELECT FROM ksana.{} o WHERE o.job_id = v.job_id "
            "AND o.job_id <> '' AND o.nominal_at IS NOT NULL AND o.nominal_at = v.nominal_at)",
            other);
    }
    if (mode.look) sql += " ON CONFLICT DO NOTHING";
    sql += " RETURNING id";
    return {{}, std::move(columns.params), std::move(sql)};
}

Statement UpdateRunsStatement(const RunRows& rows) {
    const RunGroups groups = GroupsIn(rows);
    Columns columns;
    std::string changes;
    for (const RunColumn& column : RunColumns()) {
        if (column.name == "id") columns.Take(column, rows);
        if (!column.status) continue;
        if (Has(groups, column.group)) {
            columns.Take(column, rows);
            Append(changes, fmt::format("{0} = v.{0}", column.name));
        } else {
            Append(changes, fmt::format("{} = {}", column.name, column.fallback));
        }
    }
    return {{},
            std::move(columns.params),
            fmt::format("UPDATE ksana.runs r SET {} FROM {} WHERE r.id = v.id", changes,
                        columns.From())};
}

Statement FinishRunsStatement(const RunRows& rows) {
    const RunGroups groups = GroupsIn(rows);
    Columns columns;
    std::string names;
    std::string values;
    for (const RunColumn& column : RunColumns()) {
        if (OnlyInRuns(column)) continue;
        if (column.name == "id") columns.Take(column, rows);
        if (!column.status) {
            Append(values, fmt::format("r.{}", column.name));
        } else if (Has(groups, column.group)) {
            columns.Take(column, rows);
            Append(values, fmt::format("v.{}", column.name));
        } else {
            continue;  // the table's default
        }
        Append(names, column.name);
    }
    return {{},
            std::move(columns.params),
            fmt::format("WITH gone AS (DELETE FROM ksana.runs r USING {} WHERE r.id = v.id "
                        "RETURNING {}) INSERT INTO ksana.finished_runs ({}) SELECT * FROM gone",
                        columns.From(), values, names)};
}

}  // namespace ksana::store_postgres
