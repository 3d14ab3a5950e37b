#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "ksana/store_sqlite/list_sql.hpp"
#include "ksana/store_sqlite/run_lanes.hpp"
#include "ksana/store_sqlite/run_tags.hpp"
#include "ksana/store_sqlite/statements.hpp"

namespace ksana::store_sqlite {

using model::RunState;
using store::RunFilter;
using store::RunSort;
using store_kit::RunList;

namespace {

// What a part of a list walks along. The columns are those of the index that say the same as the
// ones of the run.
struct Way {
    std::string from;
    std::string condition;                               // that chooses the part of the index
    std::optional<ListSql::Value> value = std::nullopt;  // of the condition
    std::string_view id = "id";
    std::string_view ready_at = "ready_at";
    std::string_view finished_at = "finished_at";
};

Way Tagged(Tag tag, ListSql::Value value) {
    return {.from = "run_tags CROSS JOIN runs ON id=run_id",
            .condition = fmt::format("tag={} AND tag_value=?", static_cast<int>(tag)),
            .value = value,
            .id = "run_id"};
}

ListSql::Value AsBytes(const std::string& text) { return ListSql::Bytes{text}; }

// Along something that few runs have, in the order of the id.
std::optional<Way> NarrowWay(const RunFilter& filter) {
    if (filter.parent) return Tagged(Tag::kParent, *filter.parent);
    if (!filter.job_id.empty()) {
        return Way{.from = "runs INDEXED BY runs_job", .condition = "job_id<>''"};
    }
    if (!filter.creator.empty()) return Tagged(Tag::kCreator, AsBytes(filter.creator));
    if (!filter.category.empty()) return Tagged(Tag::kCategory, AsBytes(filter.category));
    if (!filter.type.empty()) {
        return Way{.from = "runs INDEXED BY runs_type", .condition = "type<>''"};
    }
    if (!filter.tenant.empty() && filter.tenant != model::Run{}.tenant) {
        return Tagged(Tag::kTenant, AsBytes(filter.tenant));
    }
    return std::nullopt;
}

Way Lane(std::int64_t lane) {
    return {.from = "runs INDEXED BY runs_lane",
            .condition = fmt::format("lane={} AND lane_group=''", lane)};
}

// The lanes of a state that is not final, so that a list of it does not walk through the others.
std::vector<Way> WaysOf(RunState state) {
    Way lane = Lane(static_cast<std::int64_t>(state));
    if (state == RunState::kScheduled) lane.ready_at = "lane_order";
    if (state != RunState::kQueued) return {lane};
    Way ready = lane;
    Way blocked = lane;
    ready.condition = fmt::format("lane>={}", kReadyLanes);
    blocked.condition = fmt::format("lane={}", kBlockedLane);
    return {ready, blocked};
}

Way FinalByTime(RunState state) {
    Way way = Lane(static_cast<std::int64_t>(state));
    way.finished_at = "lane_order";
    return way;
}

Way FinalById(RunState state) {
    return {.from = "runs INDEXED BY runs_final",
            .condition = fmt::format("state>=5 AND state={}", static_cast<int>(state))};
}

Way FinalOfJob() {
    return {.from = "runs INDEXED BY runs_job_final",
            .condition = "job_id<>'' AND final_at IS NOT NULL",
            .finished_at = "final_at"};
}

std::string_view SortColumn(RunSort sort, const Way& way) {
    switch (sort) {
        case RunSort::kReady:
            return way.ready_at;
        case RunSort::kFinished:
            return way.finished_at;
        case RunSort::kId:
            break;
    }
    return way.id;
}

ListSql Head(const Way& way, ListPurpose purpose) {
    ListSql sql;
    sql.text = fmt::format("{} FROM {}",
                           purpose == ListPurpose::kRows ? "SELECT " KSANA_RUN_COLUMNS
                                                         : "SELECT count(*) FROM (SELECT 1",
                           way.from);
    if (!way.condition.empty()) sql.Where(way.condition);
    if (way.value) sql.values.push_back(*way.value);
    return sql;
}

void AddEqual(ListSql& sql, std::string_view condition, const std::string& value) {
    if (!value.empty()) sql.Where(condition, value);
}

void AddFilter(ListSql& sql, const RunList& list, const Way& way) {
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
        sql.Where(fmt::format("{}>=?", way.finished_at),
                  filter.finished_from->time_since_epoch().count());
    }
    if (filter.finished_until) {
        sql.Where(fmt::format("{}<?", way.finished_at),
                  filter.finished_until->time_since_epoch().count());
    }
    sql.Words(list.words, {"type", "category", "creator", "job_id", "last_error"});
}

void Finish(ListSql& sql, const RunList& list, const Way& way, ListPurpose purpose,
            std::int64_t limit) {
    const std::string_view column = SortColumn(list.sort, way);
    const bool by_id = list.sort == RunSort::kId;
    if (list.after && by_id) {
        sql.Where(fmt::format("{}{}?", way.id, list.descending ? "<" : ">"), list.after->id);
    } else if (list.after) {
        sql.After(column, way.id, list.descending, list.after->time, list.after->id);
    }
    if (purpose == ListPurpose::kCount) {
        sql.text += " LIMIT ?)";
    } else {
        const std::string_view direction = list.descending ? "DESC" : "ASC";
        sql.text +=
            by_id ? fmt::format(" ORDER BY {} {} LIMIT ?", way.id, direction)
                  : fmt::format(" ORDER BY {0} {2}, {1} {2} LIMIT ?", column, way.id, direction);
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

// For every state asked for, the ways that together hold its runs.
std::vector<Way> WaysByState(const RunList& list) {
    const bool by_time = AsksForFinishedTime(list);
    std::vector<Way> ways;
    for (std::size_t i = 0; i < model::kEnumCount<RunState>; ++i) {
        const auto state = static_cast<RunState>(i);
        if ((list.filter.states & model::SetOf(state)) == 0) continue;
        if (model::IsFinal(state)) {
            ways.push_back(by_time ? FinalByTime(state) : FinalById(state));
        } else if (!by_time) {
            std::ranges::move(WaysOf(state), std::back_inserter(ways));
        }
    }
    return ways;
}

}  // namespace

std::vector<ListSql> RunListSql(const RunList& list, ListPurpose purpose, std::int64_t limit) {
    std::vector<ListSql> parts;
    const auto add = [&](const Way& way, bool of_states) {
        ListSql& sql = parts.emplace_back(Head(way, purpose));
        if (!of_states && list.filter.states != model::kAllStates) {
            sql.Where(StatesCondition(list.filter.states));
        }
        AddFilter(sql, list, way);
        Finish(sql, list, way, purpose, limit);
    };
    const auto narrow = NarrowWay(list.filter);
    if (list.sort == RunSort::kFinished && !list.filter.job_id.empty()) {
        add(FinalOfJob(), false);
    } else if (narrow && list.sort != RunSort::kFinished) {
        add(*narrow, false);
    } else if (!AsksForFinishedTime(list) && list.filter.states == model::kAllStates &&
               list.sort == RunSort::kId) {
        add({.from = "runs", .condition = ""}, false);
    } else {
        for (const Way& way : WaysByState(list)) add(way, true);
    }
    return parts;
}

}  // namespace ksana::store_sqlite
