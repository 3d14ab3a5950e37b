#include <fmt/core.h>

#include <bit>

#include "ksana/store_kit/lists/index_choice.hpp"
#include "ksana/store_postgres/lists/conditions.hpp"
#include "ksana/store_postgres/rows/packed_run.hpp"
#include "ksana/store_postgres/rows/postgres_transaction.hpp"

// Lists and counts of runs, over both tables.

namespace ksana::store_postgres {
namespace {

using model::Run;
using store::RunSort;
using store_kit::RunFilterKey;
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

// Returns whether `states` is a single state other than `state`.
bool IsOneBut(model::RunStates states, model::RunState state) {
    return std::has_single_bit(states) && states != model::SetOf(state);
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

// Adds "beyond this place" or, with = in `sign`, "up to this place".
void AddPlace(Conditions& where, const RunList& list, std::string_view sign,
              const RunList::After& place) {
    const std::size_t id = where.Number(place.id);
    const std::string_view column = SortColumn(list.sort);
    if (column.empty()) return where.And(fmt::format("r.id {} ${}::uuid", sign, id));
    const std::size_t time = where.Number(place.time);
    where.And(fmt::format("(r.{}, r.id) {} (${}::bigint, ${}::uuid)", column, sign, time, id));
}

void AddAfter(Conditions& where, const RunList& list) {
    if (list.after) AddPlace(where, list, list.descending ? "<" : ">", *list.after);
}

void AddUntil(Conditions& where, const RunList& list, const std::optional<RunList::After>& until) {
    if (until) AddPlace(where, list, list.descending ? ">=" : "<=", *until);
}

// The members of a filter for which a table has an index with the order of the list.
store_kit::RunFilterKeys IndexedKeys(RunSort sort, bool finished) {
    constexpr store_kit::RunFilterKeys kOfJob = SetOf(RunFilterKey::kJob);
    if (sort == RunSort::kFinished) return kOfJob;
    if (sort != RunSort::kId) return 0;
    return finished ? store_kit::kAllRunFilterKeys : kOfJob | SetOf(RunFilterKey::kParent);
}

// The conditions name what the partial indexes leave out.
void AddKey(Conditions& where, const store::RunFilter& filter, RunFilterKey key) {
    switch (key) {
        case RunFilterKey::kNone:
            return;
        case RunFilterKey::kParent:
            return where.Add("r.parent = ${}::uuid", *filter.parent);
        case RunFilterKey::kJob:
            return where.AddText("r.job_id = ${}::text AND r.job_id <> ''", filter.job_id);
        case RunFilterKey::kCreator:
            return where.AddText("r.creator = ${}::text AND r.creator <> ''", filter.creator);
        case RunFilterKey::kCategory:
            return where.AddText("r.category = ${}::text AND r.category <> ''", filter.category);
        case RunFilterKey::kType:
            return where.AddText("r.type = ${}::text", filter.type);
        case RunFilterKey::kTenant:
            return where.AddText("r.tenant = ${}::text AND r.tenant <> 'default'", filter.tenant);
    }
}

// Adds only the condition that an index of the table has in the order of the list. Returns whether
// that is the whole filter.
bool AddNarrowest(Conditions& where, const RunList& list, std::string_view table) {
    const store::RunFilter& filter = list.filter;
    const bool finished = table == "finished_runs";
    const bool by_id = list.sort == RunSort::kId;
    const RunFilterKey key = store_kit::NarrowestKey(filter, IndexedKeys(list.sort, finished));
    store::RunFilter rest = store_kit::Without(filter, key);
    if (key != RunFilterKey::kNone) {
        AddKey(where, filter, key);
    } else if (finished && by_id && IsOneBut(filter.states, model::RunState::kSucceeded)) {
        where.And(fmt::format("r.{}", StatesIn(filter.states)));
        rest.states = model::kAllStates;
    }
    if (list.sort == RunSort::kFinished) {
        if (filter.finished_from) {
            where.Add("r.finished_at >= ${}::bigint", Micros(*filter.finished_from));
        }
        if (filter.finished_until) {
            where.Add("r.finished_at < ${}::bigint", Micros(*filter.finished_until));
        }
        rest.finished_from.reset();
        rest.finished_until.reset();
    }
    const model::RunStates of_table =
        finished ? model::kAllStates & ~model::kUnfinishedStates : model::kUnfinishedStates;
    if ((rest.states & of_table) == of_table) rest.states = model::kAllStates;
    Conditions more;
    RunList other = list;
    other.filter = std::move(rest);
    AddFilter(more, other);
    return more.text().empty();
}

std::string OrderBy(const RunList& list, std::string_view prefix) {
    const std::string_view direction = list.descending ? " DESC" : "";
    const std::string_view column = SortColumn(list.sort);
    std::string order = " ORDER BY ";
    if (!column.empty()) order += fmt::format("{}{}{}, ", prefix, column, direction);
    return order + fmt::format("{}id{}", prefix, direction);
}

// Returns the tables that can have runs in these states.
std::vector<std::string_view> TablesFor(model::RunStates states) {
    std::vector<std::string_view> tables;
    if ((states & model::kUnfinishedStates) != 0) tables.emplace_back("runs");
    if ((states & model::kAllStates & ~model::kUnfinishedStates) != 0) {
        tables.emplace_back("finished_runs");
    }
    return tables;
}

// Returns the UNION ALL of `part` for each table.
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
    "least((SELECT expires_at FROM ksana.runs WHERE state = 2 ORDER BY expires_at, id LIMIT 1), "
    "(SELECT expires_at FROM ksana.runs WHERE blocked AND expires_at IS NOT NULL "
    "ORDER BY expires_at, ready_at, id LIMIT 1)), "
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

// Returns whether an index of another order finds at most list.look finished runs for the filter:
// the server then sorts these.
Result<bool> PostgresTransaction::AreFew(const RunList& list) {
    if (list.sort == RunSort::kId || !list.filter.job_id.empty()) return false;
    RunList by_id = list;
    by_id.sort = RunSort::kId;
    Conditions where;
    AddNarrowest(where, by_id, "finished_runs");
    if (where.text().empty()) return false;
    const auto most = static_cast<std::int64_t>(list.look);
    const std::size_t limit = where.Number(most + 1);
    KSANA_TRY(const Rows rows,
              session_.QueryBuilt(
                  fmt::format("SELECT count(*) FROM (SELECT FROM "
                              "ksana.finished_runs r{} ORDER BY r.id LIMIT ${}::bigint) c",
                              where.text(), limit),
                  where.Take()));
    return RowReader(rows, 0).Int64() <= most;
}

// Returns the place at which list.look rows of the index that the list follows have been read, in
// the table where that happens first; none where every row read belongs to the list.
Result<std::optional<RunList::After>> PostgresTransaction::HorizonOf(const RunList& list) {
    std::optional<RunList::After> horizon;
    if (list.look == 0) return horizon;
    KSANA_TRY(const bool few, AreFew(list));
    if (few) return horizon;
    for (const std::string_view table : TablesFor(list.filter.states)) {
        Conditions where;
        if (AddNarrowest(where, list, table)) continue;
        AddAfter(where, list);
        AddUntil(where, list, horizon);
        const std::size_t offset = where.Number(static_cast<std::int64_t>(list.look) - 1);
        const std::string_view column = SortColumn(list.sort);
        KSANA_TRY(const Rows rows,
                  session_.QueryBuilt(
                      fmt::format("SELECT {}, r.id FROM ksana.{} r{}{} LIMIT 1 OFFSET ${}::bigint",
                                  column.empty() ? "0::bigint" : fmt::format("r.{}", column), table,
                                  where.text(), OrderBy(list, "r."), offset),
                      where.Take()));
        if (rows.size() == 0) continue;
        RowReader row(rows, 0);
        horizon.emplace();
        horizon->time = row.Int64();
        horizon->id = row.Id();
    }
    return horizon;
}

Result<store_kit::ListedRuns> PostgresTransaction::ListRuns(const RunList& list) {
    store_kit::ListedRuns listed;
    KSANA_TRY(listed.scanned_to, HorizonOf(list));
    Conditions where;
    AddFilter(where, list);
    AddAfter(where, list);
    AddUntil(where, list, listed.scanned_to);
    const std::size_t limit = where.Number(static_cast<std::int64_t>(list.limit));
    const std::string parts = OverTables(list, [&](std::string_view table) {
        return fmt::format("SELECT {} FROM ksana.{} r{}{} LIMIT ${}::bigint", RunColumnList("r."),
                           table, where.text(), OrderBy(list, "r."), limit);
    });
    if (parts.empty()) return listed;
    KSANA_TRY(const Rows rows,
              session_.QueryBuilt(fmt::format("SELECT * FROM ({}) u{} LIMIT ${}::bigint", parts,
                                              OrderBy(list, "u."), limit),
                                  where.Take()));
    KSANA_TRY(listed.rows, ReadRuns(rows));
    return listed;
}

Result<store::Counted> PostgresTransaction::CountRuns(const RunList& list, std::int64_t most) {
    KSANA_TRY(const auto horizon, HorizonOf(list));
    Conditions where;
    AddFilter(where, list);
    AddUntil(where, list, horizon);
    const std::size_t limit = where.Number(most);
    const std::string parts = OverTables(list, [&](std::string_view table) {
        // With this ORDER BY the planner uses the index in which the horizon was found.
        return fmt::format("SELECT FROM ksana.{} r{}{} LIMIT ${}::bigint", table, where.text(),
                           horizon ? OrderBy(list, "r.") : "", limit);
    });
    if (parts.empty()) return store::Counted{};
    KSANA_TRY(const Rows rows,
              session_.QueryBuilt(fmt::format("SELECT count(*) FROM (SELECT FROM ({}) u LIMIT "
                                              "${}::bigint) c",
                                              parts, limit),
                                  where.Take()));
    const std::int64_t count = RowReader(rows, 0).Int64();
    return store::Counted{.count = count, .complete = !horizon || count == most};
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
