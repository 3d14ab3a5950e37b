#include <fmt/core.h>

#include "ksana/store_sqlite/list_sql.hpp"
#include "ksana/store_sqlite/statements.hpp"

namespace ksana::store_sqlite {

using model::RunState;
using store::RunFilter;
using store::RunSort;
using store_kit::RunList;

namespace {

constexpr model::RunStates kFinalStates = model::kAllStates & ~model::kUnfinishedStates;

// What a part of a list walks along.
struct Way {
    std::string_view index;      // empty: the table itself, by id
    std::string_view condition;  // that SQLite needs to see before it uses the index
};

// An index on something that few runs have, in the order of the id.
std::optional<Way> NarrowWay(const RunFilter& filter) {
    if (filter.parent) return Way{"runs_parent", "parent IS NOT NULL"};
    if (!filter.job_id.empty()) return Way{"runs_job", "job_id<>''"};
    if (!filter.creator.empty()) return Way{"runs_creator", "creator<>''"};
    if (!filter.category.empty()) return Way{"runs_category", "category<>''"};
    if (!filter.type.empty()) return Way{"runs_type", "type<>''"};
    if (!filter.tenant.empty() && filter.tenant != model::Run{}.tenant) {
        return Way{"runs_tenant", "tenant<>'default'"};
    }
    return std::nullopt;
}

// Every state has an index of its own (queued runs have two), so that a list of some states does
// not walk through the others.
std::vector<Way> WaysOf(RunState state) {
    switch (state) {
        case RunState::kScheduled:
            return {{"runs_scheduled", "state=0"}};
        case RunState::kQueued:
            return {{"runs_ready", "state=1 AND blocked=0"},
                    {"runs_blocked", "state=1 AND blocked=1"}};
        case RunState::kRunning:
            return {{"runs_running", "state=2"}};
        case RunState::kCompleting:
            return {{"runs_parked", "state>=3 AND state<=4 AND state=3"}};
        case RunState::kHeld:
            return {{"runs_parked", "state>=3 AND state<=4 AND state=4"}};
        default:
            return {};
    }
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
    return "id";
}

ListSql Head(const Way& way, ListPurpose purpose) {
    ListSql sql;
    sql.text = purpose == ListPurpose::kRows ? "SELECT " KSANA_RUN_COLUMNS " FROM runs"
                                             : "SELECT count(*) FROM (SELECT 1 FROM runs";
    if (!way.index.empty()) sql.text += fmt::format(" INDEXED BY {}", way.index);
    if (!way.condition.empty()) sql.Where(way.condition);
    return sql;
}

void AddEqual(ListSql& sql, std::string_view condition, const std::string& value) {
    if (!value.empty()) sql.Where(condition, value);
}

void AddFilter(ListSql& sql, const RunList& list) {
    const RunFilter& filter = list.filter;
    AddEqual(sql, "tenant=?", filter.tenant);
    AddEqual(sql, "job_id=?", filter.job_id);
    AddEqual(sql, "type=?", filter.type);
    AddEqual(sql, "category=?", filter.category);
    AddEqual(sql, "creator=?", filter.creator);
    AddEqual(sql, "owner=?", filter.owner);
    if (filter.kind) sql.Where("kind=?", static_cast<std::int64_t>(*filter.kind));
    if (filter.trigger) sql.Where("cause=?", static_cast<std::int64_t>(*filter.trigger));
    if (filter.parent) sql.Where("parent=?", *filter.parent);
    if (filter.finished_from) {
        sql.Where("finished_at>=?", filter.finished_from->time_since_epoch().count());
    }
    if (filter.finished_until) {
        sql.Where("finished_at<?", filter.finished_until->time_since_epoch().count());
    }
    sql.Words(list.words, {"type", "category", "creator", "job_id", "last_error"});
}

void Finish(ListSql& sql, const RunList& list, ListPurpose purpose, std::int64_t limit) {
    const std::string_view column = SortColumn(list.sort);
    if (list.after && list.sort == RunSort::kId) {
        sql.Where(list.descending ? "id<?" : "id>?", list.after->id);
    } else if (list.after) {
        sql.After(column, "id", list.descending, list.after->time, list.after->id);
    }
    if (purpose == ListPurpose::kCount) {
        sql.text += " LIMIT ?)";
    } else {
        const std::string_view direction = list.descending ? "DESC" : "ASC";
        sql.text += list.sort == RunSort::kId
                        ? fmt::format(" ORDER BY id {} LIMIT ?", direction)
                        : fmt::format(" ORDER BY {0} {1}, id {1} LIMIT ?", column, direction);
    }
    sql.values.emplace_back(limit);
}

std::string StatesCondition(model::RunStates states) {
    return fmt::format("((1<<state) & {})<>0", states);
}

bool AsksForFinishedTime(const RunList& list) {
    return list.sort == RunSort::kFinished || list.filter.finished_from.has_value() ||
           list.filter.finished_until.has_value();
}

// Along the time of the end: only final runs have one.
Way FinishedWay(const RunFilter& filter) {
    if (!filter.job_id.empty()) return {"runs_job_finished", "state>=5 AND job_id<>''"};
    return {"runs_finished", "state>=5"};
}

}  // namespace

std::vector<ListSql> RunListSql(const RunList& list, ListPurpose purpose, std::int64_t limit) {
    std::vector<ListSql> parts;
    const auto add = [&](const Way& way, model::RunStates states) {
        ListSql& sql = parts.emplace_back(Head(way, purpose));
        if (states != model::kAllStates) sql.Where(StatesCondition(states));
        AddFilter(sql, list);
        Finish(sql, list, purpose, limit);
    };
    const model::RunStates states = list.filter.states;
    const auto narrow = NarrowWay(list.filter);
    if (AsksForFinishedTime(list) && (list.sort == RunSort::kFinished || !narrow)) {
        add(FinishedWay(list.filter), states & kFinalStates);
    } else if (narrow) {
        add(*narrow, states);
    } else if (states == model::kAllStates && list.sort == RunSort::kId) {
        add({}, states);
    } else {
        for (std::size_t i = 0; i < model::kEnumCount<RunState>; ++i) {
            const auto state = static_cast<RunState>(i);
            if ((states & model::SetOf(state)) == 0) continue;
            if (model::IsFinal(state)) {
                const std::string condition = fmt::format("state>=5 AND state={}", i);
                add({"runs_final", condition}, model::kAllStates);
            }
            for (const Way& way : WaysOf(state)) add(way, model::kAllStates);
        }
    }
    return parts;
}

}  // namespace ksana::store_sqlite
