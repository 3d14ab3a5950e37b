#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "ksana/store_kit/lists/index_choice.hpp"
#include "ksana/store_sqlite/lists/list_sql.hpp"
#include "ksana/store_sqlite/rows/run_lanes.hpp"
#include "ksana/store_sqlite/rows/run_tags.hpp"
#include "ksana/store_sqlite/wire/statements.hpp"

namespace ksana::store_sqlite {

using model::RunState;
using store::RunFilter;
using store::RunSort;
using store_kit::RunFilterKey;
using store_kit::RunList;

namespace {

// What a part of a list walks along.
struct RunScan {
    std::string number = "seq";  // column with the seq of the run
    std::string from;
    std::string condition;               // selects the part of the index
    std::vector<ListSql::Value> values;  // of the condition
    std::string sorted_by;               // ORDER BY: the sort key, then the id
    bool sorts = false;                  // SQLite sorts, as the index has another order
    std::string after;                   // condition for the runs after the last page
    std::vector<ListSql::Value> after_values;
    bool exact = false;  // the filter has no other conditions
    bool few = false;    // see RunListPart
};

std::string_view Beyond(const RunList& list) { return list.descending ? "<" : ">"; }

// Sorts by a column and then the id, in the index or in the row.
void SortByTime(RunScan& way, const RunList& list, std::string_view column, std::string_view id) {
    const std::string_view direction = list.descending ? "DESC" : "ASC";
    way.sorted_by = fmt::format("{0} {2}, {1} {2}", column, id, direction);
    if (!list.after) return;
    way.after = fmt::format("({}, {}){}(?, ?)", column, id, Beyond(list));
    way.after_values = {list.after->time, list.after->id};
}

// Sorts by one unique column.
void SortByKey(RunScan& way, const RunList& list, std::string_view column, ListSql::Value after) {
    way.sorted_by = fmt::format("{} {}", column, list.descending ? "DESC" : "ASC");
    if (!list.after) return;
    way.after = fmt::format("{}{}?", column, Beyond(list));
    way.after_values = {std::move(after)};
}

// Walks along a unique column, within a range of it. The start of the page narrows the range: with
// two bounds on one side SQLite seeks by the first and walks to the other.
RunScan WithinKeys(std::string from, std::string_view column, PlaceRange range, const RunList& list,
                   std::string after) {
    if (list.after && list.descending) range.to = std::min(range.to, after);
    if (list.after && !list.descending) range.from = std::max(range.from, after + '\0');
    return {.from = std::move(from),
            .condition = fmt::format("{0}>=? AND {0}<?", column),
            .values = {std::move(range.from), std::move(range.to)},
            .sorted_by = fmt::format("{} {}", column, list.descending ? "DESC" : "ASC")};
}

// Returns a way along an index whose entries are in the order of the id.
RunScan ById(std::string from, std::string condition, std::vector<ListSql::Value> values,
             std::string_view id, const RunList& list) {
    RunScan way{
        .from = std::move(from), .condition = std::move(condition), .values = std::move(values)};
    if (list.sort == RunSort::kReady) {
        way.sorts = true;
        SortByTime(way, list, "ready_at", id);
    } else {
        SortByKey(way, list, id, list.after ? ListSql::Value(list.after->id) : ListSql::Value());
    }
    return way;
}

RunScan Tagged(Tag tag, ListSql::Value value, const RunList& list) {
    return ById("run_tags CROSS JOIN runs ON id=run_id",
                fmt::format("tag={} AND tag_value=?", static_cast<int>(tag)), {std::move(value)},
                "run_id", list);
}

ListSql::Value AsBytes(const std::string& text) { return ListSql::Bytes{text}; }

constexpr const char* kRecentRuns = KSANA_RECENT_RUNS;

// Returns the ways of a job's runs: the unfinished, the recently finished, and the other finished
// ones (job_history.hpp).
std::vector<RunScan> OfJob(const RunList& list) {
    const ListSql::Value job(list.filter.job_id);
    RunScan recent = ById(kRecentRuns, "s.job_id=?", {job}, "runs.id", list);
    recent.number = "runs.seq";
    recent.sorts = true;
    recent.few = true;
    const bool by_ready = list.sort == RunSort::kReady;
    RunScan ended = ById(by_ready ? "job_runs j CROSS JOIN runs ON runs.seq=j.seq" : "job_runs j",
                         "j.job_id=?", {job}, "j.id", list);
    ended.number = "j.seq";
    return {ById("runs INDEXED BY runs_open", "job_id=? AND final_at IS NULL", {job}, "id", list),
            std::move(recent), std::move(ended)};
}

std::vector<RunScan> Exact(std::vector<RunScan> ways, bool exact) {
    for (RunScan& way : ways) way.exact = exact;
    return ways;
}

std::vector<RunScan> WaysAlong(RunFilterKey key, const RunList& list) {
    const RunFilter& filter = list.filter;
    switch (key) {
        case RunFilterKey::kNone:
            break;
        case RunFilterKey::kParent:
            return {Tagged(Tag::kParent, *filter.parent, list)};
        case RunFilterKey::kJob:
            return OfJob(list);
        case RunFilterKey::kCreator:
            return {Tagged(Tag::kCreator, AsBytes(filter.creator), list)};
        case RunFilterKey::kCategory:
            return {Tagged(Tag::kCategory, AsBytes(filter.category), list)};
        case RunFilterKey::kType:
            return {ById("runs INDEXED BY runs_type", "type=?", {filter.type}, "id", list)};
        case RunFilterKey::kTenant:
            return {Tagged(Tag::kTenant, AsBytes(filter.tenant), list)};
    }
    return {};
}

// Returns ways along the member of the filter that few runs have; empty if the filter names none.
std::vector<RunScan> NarrowWays(const RunList& list) {
    const RunFilterKey key = store_kit::NarrowestKey(list.filter);
    return Exact(WaysAlong(key, list),
                 list.words.empty() && store_kit::IsOpen(store_kit::Without(list.filter, key)));
}

// Returns a way along lanes that have another order than the list.
RunScan InPlaces(PlaceRange range, const RunList& list) {
    RunScan way = ById("runs INDEXED BY runs_place", "place>=? AND place<?",
                       {std::move(range.from), std::move(range.to)}, "id", list);
    way.sorts = true;
    return way;
}

// Returns a way along a lane whose order is the time that the list is sorted by.
RunScan ByPlace(Lane lane, PlaceRange range, const RunList& list) {
    return WithinKeys("runs INDEXED BY runs_place", "place", std::move(range), list,
                      list.after ? PlaceAt(lane, list.after->time, list.after->id) : "");
}

// Returns the lanes of a state that is not final, so that a list of it does not read other states.
std::vector<RunScan> WaysOf(RunState state, const RunList& list) {
    if (state == RunState::kQueued) {
        return {InPlaces(InLanes(kReadyLanes, kLastLane), list),
                InPlaces(InLane(kBlockedLane), list), InPlaces(InLane(kAwaitingLane), list)};
    }
    if (state == RunState::kScheduled && list.sort == RunSort::kReady) {
        return {ByPlace(kScheduledLane, InLane(kScheduledLane), list)};
    }
    return {InPlaces(InLane(LaneOf(state)), list)};
}

RunScan FinalByTime(RunState state, const RunList& list) {
    const Lane lane = LaneOf(state);
    PlaceRange range = InLane(lane);
    if (list.filter.finished_from) {
        range.from = FirstPlace(lane, Micros(*list.filter.finished_from));
    }
    if (list.filter.finished_until) {
        range.to = FirstPlace(lane, Micros(*list.filter.finished_until));
    }
    return list.sort == RunSort::kFinished ? ByPlace(lane, std::move(range), list)
                                           : InPlaces(std::move(range), list);
}

// States without a final key are sorted, or found among all runs if there are too many to sort.
RunScan FinalById(RunState state, const RunList& list) {
    PlaceRange range = InLane(LaneOf(state));  // a final key begins with the same byte
    if (list.sort == RunSort::kReady || !HasFinalKey(state))
        return InPlaces(std::move(range), list);
    return WithinKeys("runs INDEXED BY runs_final", "final_key", std::move(range), list,
                      list.after ? FinalKey(state, list.after->id) : "");
}

// The start of the page narrows the times, as in WithinKeys; a second condition then selects among
// the runs of that time.
std::vector<RunScan> FinalOfJob(const RunList& list) {
    std::int64_t from = INT64_MIN;
    std::int64_t to = INT64_MAX;
    if (list.filter.finished_from) from = Micros(*list.filter.finished_from);
    if (list.filter.finished_until) to = Micros(*list.filter.finished_until) - 1;
    if (list.after && list.descending) to = std::min(to, list.after->time);
    if (list.after && !list.descending) from = std::max(from, list.after->time);
    RunScan recent{.number = "runs.seq",
                   .from = kRecentRuns,
                   .condition = "s.job_id=? AND runs.final_at>=? AND runs.final_at<=?",
                   .values = {std::string_view(list.filter.job_id), from, to},
                   .sorts = true,
                   .few = true};
    SortByTime(recent, list, "runs.final_at", "runs.id");
    RunScan ended{.from = "job_runs INDEXED BY job_runs_final",
                  .condition = "job_id=? AND final_at>=? AND final_at<=?",
                  .values = {std::string_view(list.filter.job_id), from, to}};
    SortByTime(ended, list, "final_at", "id");
    return {std::move(recent), std::move(ended)};
}

RunScan AllById(const RunList& list) { return ById("runs INDEXED BY runs_id", "", {}, "id", list); }

bool AsksForFinishedTime(const RunList& list) {
    return list.sort == RunSort::kFinished || list.filter.finished_from.has_value() ||
           list.filter.finished_until.has_value();
}

// Returns, for every state of the filter, the ways that together have its runs.
std::vector<RunScan> WaysByState(const RunList& list) {
    const bool by_time = AsksForFinishedTime(list);
    std::vector<RunScan> ways;
    for (std::size_t i = 0; i < model::kEnumCount<RunState>; ++i) {
        const auto state = static_cast<RunState>(i);
        if ((list.filter.states & model::SetOf(state)) == 0) continue;
        if (model::IsFinal(state)) {
            ways.push_back(by_time ? FinalByTime(state, list) : FinalById(state, list));
        } else if (!by_time) {
            std::ranges::move(WaysOf(state, list), std::back_inserter(ways));
        }
    }
    return ways;
}

std::vector<RunScan> WaysOf(const RunList& list) {
    if (list.sort == RunSort::kFinished && !list.filter.job_id.empty()) return FinalOfJob(list);
    if (list.sort != RunSort::kFinished) {
        std::vector<RunScan> narrow = NarrowWays(list);
        if (!narrow.empty()) return narrow;
    }
    const bool all = list.filter.states == model::kAllStates && !AsksForFinishedTime(list);
    if (all && list.sort == RunSort::kId) {
        return Exact({AllById(list)}, list.words.empty() && store_kit::IsOpen(list.filter));
    }
    RunFilter rest = list.filter;  // without the conditions that the lanes know
    rest.finished_from.reset();
    rest.finished_until.reset();
    rest.states = model::kAllStates;
    return Exact(WaysByState(list), list.words.empty() && store_kit::IsOpen(rest));
}

ListSql SqlOf(RunScan way, ListPurpose purpose) {
    ListSql sql;
    sql.text = fmt::format("SELECT {} FROM {}", way.number, way.from);
    if (!way.condition.empty()) sql.Where(way.condition);
    sql.values = std::move(way.values);
    if (!way.after.empty()) sql.Where(way.after);
    std::ranges::move(way.after_values, std::back_inserter(sql.values));
    if (purpose == ListPurpose::kRows) sql.text += " ORDER BY " + way.sorted_by;
    return sql;
}

}  // namespace

bool AsksForNarrow(const RunList& list) {
    const bool in_order = list.sort == RunSort::kFinished && !list.filter.job_id.empty();
    return !in_order && store_kit::NarrowestKey(list.filter) != RunFilterKey::kNone;
}

std::vector<RunListPart> RunListSql(const RunList& list, ListPurpose purpose) {
    std::vector<RunListPart> parts;
    for (RunScan& way : WaysOf(list)) {
        const bool sorts = way.sorts;
        const bool exact = way.exact;
        const bool few = way.few;
        parts.push_back({SqlOf(std::move(way), purpose), sorts, exact, few});
    }
    return parts;
}

ListSql RunsByIdSql(const RunList& list) { return SqlOf(AllById(list), ListPurpose::kRows); }

}  // namespace ksana::store_sqlite
