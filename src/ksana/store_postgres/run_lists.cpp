#include <fmt/core.h>

#include "ksana/store_postgres/conditions.hpp"
#include "ksana/store_postgres/packed_run.hpp"
#include "ksana/store_postgres/postgres_transaction.hpp"

// Lists and counts of runs, over the unfinished and the finished ones.

namespace ksana::store_postgres {
namespace {

using model::Run;
using store::RunSort;
using store_kit::RunList;

void AddFilter(Conditions& where, const RunList& list) {
    const store::RunFilter& filter = list.filter;
    if ((filter.states & model::kAllStates) != model::kAllStates) {
        where.And(fmt::format("r.{}", StatesIn(filter.states)));
    }
    where.AddText("r.tenant = ${}::text", filter.tenant);
    where.AddText("r.job_id = ${}::text AND r.job_id <> ''", filter.job_id);
    where.AddText("r.type = ${}::text", filter.type);
    where.AddText("r.category = ${}::text AND r.category <> ''", filter.category);
    where.AddText("r.creator = ${}::text AND r.creator <> ''", filter.creator);
    where.AddText("r.owner = ${}::text", filter.owner);
    if (!filter.tenant.empty() && filter.tenant != "default") where.And("r.tenant <> 'default'");
    if (filter.kind) where.Add("r.kind = ${}::smallint", Small(*filter.kind));
    if (filter.trigger) where.Add("r.trigger = ${}::smallint", Small(*filter.trigger));
    if (filter.parent) where.Add("r.parent = ${}::uuid", *filter.parent);
    if (filter.finished_from) {
        where.Add("r.finished_at >= ${}::bigint", Micros(*filter.finished_from));
        where.And("r.finished_at < 9223372036854775807");
    }
    if (filter.finished_until) {
        where.Add("r.finished_at < ${}::bigint", Micros(*filter.finished_until));
    }
    where.AddWords(list.words, {"r.type", "r.category", "r.creator", "r.job_id", "r.last_error"});
}

std::string_view SortColumn(RunSort sort) {
    switch (sort) {
        case RunSort::kReady:
            return "ready_at";
        case RunSort::kFinished:
            return "finished_at";
        case RunSort::kId:
            break;
    }
    return "";
}

void AddAfter(Conditions& where, const RunList& list) {
    if (!list.after) return;
    const std::string_view sign = list.descending ? "<" : ">";
    const std::size_t id = where.Number(list.after->id);
    const std::string_view column = SortColumn(list.sort);
    if (column.empty()) return where.And(fmt::format("r.id {} ${}::uuid", sign, id));
    const std::size_t time = where.Number(list.after->time);
    where.And(fmt::format("(r.{}, r.id) {} (${}::bigint, ${}::uuid)", column, sign, time, id));
}

std::string OrderBy(const RunList& list, std::string_view prefix) {
    const std::string_view direction = list.descending ? " DESC" : "";
    const std::string_view column = SortColumn(list.sort);
    std::string order = " ORDER BY ";
    if (!column.empty()) order += fmt::format("{}{}{}, ", prefix, column, direction);
    return order + fmt::format("{}id{}", prefix, direction);
}

// The tables in which such runs can be.
std::vector<std::string_view> TablesFor(model::RunStates states) {
    std::vector<std::string_view> tables;
    if ((states & model::kUnfinishedStates) != 0) tables.emplace_back("runs");
    if ((states & model::kAllStates & ~model::kUnfinishedStates) != 0) {
        tables.emplace_back("finished_runs");
    }
    return tables;
}

// The same of each table, one below the other.
template <class F>
std::string OverTables(const RunList& list, const F& part) {
    std::string sql;
    for (const std::string_view table : TablesFor(list.filter.states)) {
        if (!sql.empty()) sql += " UNION ALL ";
        sql += fmt::format("({})", part(table));
    }
    return sql;
}

constexpr std::string_view kDepths =
    "SELECT kind, type, state, count(*), min(ready_at) FROM ksana.runs GROUP BY kind, type, state "
    "ORDER BY kind, type, state";

constexpr std::string_view kNextWake =
    "SELECT (SELECT nullif(next_run_at, 9223372036854775807) FROM ksana.job_state WHERE enabled "
    "ORDER BY next_run_at, id LIMIT 1), "
    "(SELECT ready_at FROM ksana.runs WHERE state = 0 ORDER BY ready_at, id LIMIT 1), "
    "(SELECT expires_at FROM ksana.runs WHERE state = 2 ORDER BY expires_at, id LIMIT 1), "
    "(SELECT kind FROM ksana.runs WHERE state = 1 AND NOT blocked "
    "ORDER BY kind, type, rank, id LIMIT 1) IS NOT NULL";

constexpr std::string_view kCounts =
    "SELECT (SELECT count(*) FROM ksana.jobs), "
    "(SELECT count(*) FROM ksana.runs) + (SELECT count(*) FROM ksana.finished_runs), "
    "(SELECT count(*) FROM ksana.attempts), (SELECT count(*) FROM ksana.ledger), "
    "(SELECT count(*) FROM ksana.audit_events), (SELECT count(*) FROM ksana.documents)";

constexpr std::string_view kSamples =
    "SELECT state, status FROM ksana.finished_runs WHERE job_id = $1::text "
    "AND job_id <> '' AND finished_at >= $2::bigint AND finished_at < $3::bigint "
    "ORDER BY finished_at DESC, id DESC LIMIT $4::bigint";

}  // namespace

Result<std::vector<Run>> PostgresTransaction::ListRuns(const RunList& list) {
    Conditions where;
    AddFilter(where, list);
    AddAfter(where, list);
    const std::size_t limit = where.Number(static_cast<std::int64_t>(list.limit));
    const std::string parts = OverTables(list, [&](std::string_view table) {
        return fmt::format("SELECT {} FROM ksana.{} r{}{} LIMIT ${}::bigint", RunColumnList("r."),
                           table, where.text(), OrderBy(list, "r."), limit);
    });
    if (parts.empty()) return std::vector<Run>();
    KSANA_TRY(const Rows rows,
              session_.QueryBuilt(fmt::format("SELECT * FROM ({}) u{} LIMIT ${}::bigint", parts,
                                              OrderBy(list, "u."), limit),
                                  where.Take()));
    return ReadRuns(rows);
}

Result<std::int64_t> PostgresTransaction::CountRuns(const RunList& list, std::int64_t most) {
    Conditions where;
    AddFilter(where, list);
    const std::size_t limit = where.Number(most);
    const std::string parts = OverTables(list, [&](std::string_view table) {
        return fmt::format("SELECT FROM ksana.{} r{} LIMIT ${}::bigint", table, where.text(),
                           limit);
    });
    if (parts.empty()) return 0;
    KSANA_TRY(const Rows rows,
              session_.QueryBuilt(fmt::format("SELECT count(*) FROM (SELECT FROM ({}) u LIMIT "
                                              "${}::bigint) c",
                                              parts, limit),
                                  where.Take()));
    return RowReader(rows, 0).Int64();
}

Result<std::vector<store::QueueDepth>> PostgresTransaction::Depths() {
    KSANA_TRY(const Rows rows, session_.Query(kDepths, {}));
    std::vector<store::QueueDepth> depths;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        RowReader row(rows, i);
        store::QueueDepth& depth = depths.emplace_back();
        depth.kind = row.Enum<model::ActionKind>();
        depth.type = row.Text();
        depth.state = row.Enum<model::RunState>();
        depth.count = row.Int64();
        depth.oldest_ready_at = row.Time();
    }
    return depths;
}

Result<store::WakeTimes> PostgresTransaction::NextWake() {
    KSANA_TRY(const Rows rows, session_.Query(kNextWake, {}));
    RowReader row(rows, 0);
    store::WakeTimes times;
    times.plan = row.MaybeTime();
    times.ready = row.MaybeTime();
    times.expiry = row.MaybeTime();
    times.queued = row.Bool();
    return times;
}

Result<store::RecordCounts> PostgresTransaction::Counts() {
    KSANA_TRY(const Rows rows, session_.Query(kCounts, {}));
    RowReader row(rows, 0);
    store::RecordCounts counts;
    counts.jobs = row.Int64();
    counts.runs = row.Int64();
    counts.attempts = row.Int64();
    counts.ledger = row.Int64();
    counts.events = row.Int64();
    counts.documents = row.Int64();
    return counts;
}

Result<std::vector<store::RunSample>> PostgresTransaction::Samples(
    const store::StatisticsParams& params, std::size_t limit) {
    KSANA_TRY(const Rows rows,
              session_.Query(kSamples, Params()
                                           .Add(params.job_id)
                                           .Add(Micros(params.from).value_or(INT64_MIN))
                                           .Add(Micros(params.until).value_or(store_kit::kNoTime))
                                           .Add(static_cast<std::int64_t>(limit))));
    std::vector<store::RunSample> samples;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        RowReader row(rows, i);
        store::RunSample sample{.state = row.Enum<model::RunState>()};
        model::RunStatus status;
        KSANA_TRY_VOID(UnpackStatus(row.Bytes(), status));
        if (status.started_at && status.ended_at) {
            sample.duration = *status.ended_at - *status.started_at;
        }
        samples.push_back(sample);
    }
    return samples;
}

}  // namespace ksana::store_postgres
