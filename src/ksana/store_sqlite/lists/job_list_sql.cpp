#include <fmt/core.h>

#include "ksana/store_kit/lists/index_choice.hpp"
#include "ksana/store_sqlite/lists/list_sql.hpp"
#include "ksana/store_sqlite/wire/statements.hpp"

namespace ksana::store_sqlite {

using store::JobFilter;
using store::JobSort;
using store_kit::JobFilterKey;
using store_kit::JobList;

namespace {

// How a part of a list walks: the tables in the order of the join, and the index it follows.
struct JobScan {
    std::string_view first;      // the table whose index it follows
    std::string_view then;       // joins the other table
    std::string_view condition;  // selects the part of the index
    std::string_view equal;      // indexed column that has to equal `value`; empty: none
    std::string_view value;
    std::string_view column;  // sort column before the id; empty: sorted by id
    std::string_view id;
};

constexpr std::string_view kLabelled = "l.job_id";
constexpr std::string_view kWithState = " CROSS JOIN job_state s ON s.job_id=j.id";
constexpr std::string_view kWithJob = " CROSS JOIN jobs j ON j.id=s.job_id";

// Returns the way by id, along the most selective index.
JobScan IdWay(const JobFilter& filter) {
    JobScan way{.then = kWithState, .id = "j.id"};
    const auto along = [&](std::string_view index, std::string_view condition,
                           std::string_view equal, std::string_view value) {
        way.first = index;
        way.condition = condition;
        way.equal = equal;
        way.value = value;
        return way;
    };
    const auto [key, value] = store_kit::NarrowestKey(filter, false);
    switch (key) {
        case JobFilterKey::kLabel:
            way.id = kLabelled;
            way.then =
                " CROSS JOIN jobs j ON j.id=l.job_id CROSS JOIN job_state s ON s.job_id=l.job_id";
            return along("job_labels l", "l.key=? AND l.value=?", "", value);
        case JobFilterKey::kName:
            return along("jobs j INDEXED BY jobs_name", "", "j.name", value);
        case JobFilterKey::kCalendar:
            return along("jobs j INDEXED BY jobs_calendar", "j.calendar<>''", "j.calendar", value);
        case JobFilterKey::kOwner:
            return along("jobs j INDEXED BY jobs_owner", "j.owner<>''", "j.owner", value);
        case JobFilterKey::kType:
            return along("jobs j INDEXED BY jobs_type", "j.type<>''", "j.type", value);
        case JobFilterKey::kGroup:
            return along("jobs j INDEXED BY jobs_group", "j.grp<>'default'", "j.grp", value);
        case JobFilterKey::kTenant:
            return along("jobs j INDEXED BY jobs_tenant", "j.tenant<>'default'", "j.tenant", value);
        case JobFilterKey::kNone:
            break;
    }
    return along("jobs j INDEXED BY sqlite_autoindex_jobs_1", "", "", "");
}

JobScan OfJobs(std::string_view index, std::string_view column) {
    return {.first = index, .then = kWithState, .column = column, .id = "j.id"};
}

JobScan OfStates(std::string_view index, std::string_view condition, std::string_view column) {
    return {.first = index,
            .then = kWithJob,
            .condition = condition,
            .column = column,
            .id = "s.job_id"};
}

std::vector<JobScan> WaysOf(const JobList& list) {
    switch (list.sort) {
        case JobSort::kName:
            return {OfJobs("jobs j INDEXED BY jobs_name", "j.name")};
        case JobSort::kCreated:
            return {OfJobs("jobs j INDEXED BY jobs_created", "j.created_at")};
        case JobSort::kUpdated:
            return {OfJobs("jobs j INDEXED BY jobs_updated", "j.updated_at")};
        case JobSort::kLastRun:
            return {OfStates("job_state s INDEXED BY job_last", "", "s.last_run_at")};
        case JobSort::kNextRun: {
            std::vector<JobScan> ways;
            const std::optional<bool> enabled = list.filter.enabled;
            constexpr std::string_view kDue = "job_state s INDEXED BY job_due";
            if (enabled.value_or(true)) {
                ways.push_back(OfStates(kDue, "s.enabled=1", "s.next_run_at"));
            }
            if (!enabled.value_or(false)) {
                ways.push_back(OfStates(kDue, "s.enabled=0", "s.next_run_at"));
            }
            return ways;
        }
        case JobSort::kId:
            break;
    }
    return {IdWay(list.filter)};
}

// Returns whether the filter has conditions that the index of the way does not know.
bool AsksForMore(const JobList& list, const JobScan& way) {
    const JobFilter& filter = list.filter;
    std::size_t asked = filter.labels.size();
    for (const std::string* text : {&filter.tenant, &filter.name, &filter.group, &filter.owner,
                                    &filter.type, &filter.calendar}) {
        if (!text->empty()) ++asked;
    }
    const std::size_t known = way.equal.empty() && way.id != kLabelled ? 0 : 1;
    const bool enabled = filter.enabled && list.sort != JobSort::kNextRun;
    return asked > known || enabled || filter.kind || filter.last_state || !list.words.empty();
}

void AddEqual(ListSql& sql, std::string_view condition, const std::string& value) {
    if (!value.empty()) sql.Where(condition, value);
}

void AddFilter(ListSql& sql, const JobList& list) {
    const JobFilter& filter = list.filter;
    AddEqual(sql, "j.tenant=?", filter.tenant);
    AddEqual(sql, "j.name=?", filter.name);
    AddEqual(sql, "j.grp=?", filter.group);
    AddEqual(sql, "j.owner=?", filter.owner);
    AddEqual(sql, "j.type=?", filter.type);
    AddEqual(sql, "j.calendar=?", filter.calendar);
    if (filter.enabled) sql.Where("j.enabled=?", std::int64_t{*filter.enabled});
    if (filter.kind) sql.Where("j.kind=?", static_cast<std::int64_t>(*filter.kind));
    if (filter.last_state) {
        sql.Where("s.last_state=?", static_cast<std::int64_t>(*filter.last_state));
    }
    for (const auto& [key, value] : filter.labels) {
        sql.Where(
            "EXISTS (SELECT 1 FROM job_labels x WHERE x.key=? AND x.value=? AND "
            "x.job_id=j.id)",
            key);
        sql.values.emplace_back(value);
    }
    sql.Words(list.words, {"j.id", "j.name", "j.owner", "j.type", "s.last_error"});
}

// Adds "beyond this place" or, with = in `sign`, "up to this place".
void AddPlace(ListSql& sql, const JobList& list, const JobScan& way, std::string_view sign,
              const JobList::After& place) {
    if (list.sort == JobSort::kId) {
        sql.Where(fmt::format("{}{}?", way.id, sign), place.id);
        return;
    }
    sql.Where(fmt::format("({}, {}){}(?, ?)", way.column, way.id, sign));
    if (list.sort == JobSort::kName) {
        sql.values.emplace_back(place.name);
    } else {
        sql.values.emplace_back(place.time);
    }
    sql.values.emplace_back(place.id);
}

void AddAfter(ListSql& sql, const JobList& list, const JobScan& way) {
    if (list.after) AddPlace(sql, list, way, list.descending ? "<" : ">", *list.after);
}

void AddCondition(ListSql& sql, const JobList& list, const JobScan& way) {
    if (!way.condition.empty()) sql.Where(way.condition);
    if (way.id == kLabelled) {
        const auto& [key, value] = *list.filter.labels.begin();
        sql.values.emplace_back(key);
        sql.values.emplace_back(value);
    }
}

void AddOrder(ListSql& sql, const JobList& list, const JobScan& way) {
    const std::string_view direction = list.descending ? "DESC" : "ASC";
    sql.text += way.column.empty()
                    ? fmt::format(" ORDER BY {} {}", way.id, direction)
                    : fmt::format(" ORDER BY {0} {2}, {1} {2}", way.column, way.id, direction);
}

// Returns whether the statement joins both tables: a count by id reads the state only if the filter
// needs it.
bool NeedsBoth(const JobList& list, const JobScan& way, ListPurpose purpose) {
    return purpose == ListPurpose::kRows || way.then != kWithState || list.filter.last_state ||
           !list.words.empty();
}

ListSql PartSql(const JobList& list, const JobScan& way, ListPurpose purpose, std::int64_t limit,
                const std::optional<JobList::After>& until) {
    ListSql sql;
    sql.text = fmt::format("{} FROM {}{}",
                           purpose == ListPurpose::kRows ? "SELECT " KSANA_JOB_COLUMNS
                                                         : "SELECT count(*) FROM (SELECT 1",
                           way.first, NeedsBoth(list, way, purpose) ? way.then : "");
    AddCondition(sql, list, way);
    AddFilter(sql, list);
    AddAfter(sql, list, way);
    if (until) AddPlace(sql, list, way, list.descending ? ">=" : "<=", *until);
    if (purpose == ListPurpose::kCount) {
        sql.text += " LIMIT ?)";
    } else {
        AddOrder(sql, list, way);
        sql.text += " LIMIT ?";
    }
    sql.values.emplace_back(limit);
    return sql;
}

// Returns the place after list.look rows of the index; the other table is not read.
ListSql Horizon(const JobList& list, const JobScan& way) {
    ListSql sql;
    const bool by_name = list.sort == JobSort::kName;
    sql.text = fmt::format("SELECT {}, {}, {} FROM {}", by_name ? way.column : "''",
                           by_name || way.column.empty() ? "0" : way.column, way.id, way.first);
    AddCondition(sql, list, way);
    if (!way.equal.empty()) sql.Where(fmt::format("{}=?", way.equal), way.value);
    AddAfter(sql, list, way);
    AddOrder(sql, list, way);
    sql.text += " LIMIT 1 OFFSET ?";
    sql.values.emplace_back(static_cast<std::int64_t>(list.look) - 1);
    return sql;
}

}  // namespace

std::vector<ListSql> JobListSql(const JobList& list, ListPurpose purpose, std::int64_t limit,
                                const std::optional<JobList::After>& until) {
    std::vector<ListSql> parts;
    for (const JobScan& way : WaysOf(list))
        parts.push_back(PartSql(list, way, purpose, limit, until));
    return parts;
}

ListSql FewJobsSql(const JobList& list, std::int64_t most) {
    ListSql sql;
    const JobScan way = IdWay(list.filter);
    if (list.sort == JobSort::kId || (way.equal.empty() && list.filter.labels.empty())) return sql;
    sql.text = fmt::format("SELECT 1 FROM {}", way.first);
    AddCondition(sql, list, way);
    if (!way.equal.empty()) sql.Where(fmt::format("{}=?", way.equal), std::string(way.value));
    sql.text += " LIMIT ?";
    sql.values.emplace_back(most);
    return sql;
}

ListSql SortedJobsSql(const JobList& list) {
    JobScan way = IdWay(list.filter);
    way.column = WaysOf(list).front().column;
    return PartSql(list, way, ListPurpose::kRows, static_cast<std::int64_t>(list.limit), {});
}

std::vector<ListSql> JobHorizonSql(const JobList& list) {
    std::vector<ListSql> parts;
    if (list.look == 0) return parts;
    for (const JobScan& way : WaysOf(list)) {
        if (AsksForMore(list, way)) parts.push_back(Horizon(list, way));
    }
    return parts;
}

}  // namespace ksana::store_sqlite
