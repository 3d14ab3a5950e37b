#include <fmt/core.h>

#include "ksana/store_sqlite/list_sql.hpp"
#include "ksana/store_sqlite/statements.hpp"

namespace ksana::store_sqlite {

using store::JobFilter;
using store::JobSort;
using store_kit::JobList;

namespace {

constexpr std::string_view kDefault = "default";  // tenant and group of most jobs

struct Way {
    std::string_view from;
    std::string_view condition;
    std::string_view column;  // sorted by, before the id
    std::string_view id;
};

// By id: along whatever narrows it most.
Way IdWay(const JobFilter& filter) {
    if (!filter.labels.empty()) {
        return {
            "job_labels l CROSS JOIN jobs j ON j.id=l.job_id CROSS JOIN job_state s ON "
            "s.job_id=l.job_id",
            "l.key=? AND l.value=?", "", "l.job_id"};
    }
#define ALONG(index) "jobs j INDEXED BY " index " CROSS JOIN job_state s ON s.job_id=j.id"
    if (!filter.name.empty()) return {ALONG("jobs_name"), "", "", "j.id"};
    if (!filter.owner.empty()) return {ALONG("jobs_owner"), "j.owner<>''", "", "j.id"};
    if (!filter.type.empty()) return {ALONG("jobs_type"), "j.type<>''", "", "j.id"};
    if (!filter.group.empty() && filter.group != kDefault) {
        return {ALONG("jobs_group"), "j.grp<>'default'", "", "j.id"};
    }
    if (!filter.tenant.empty() && filter.tenant != kDefault) {
        return {ALONG("jobs_tenant"), "j.tenant<>'default'", "", "j.id"};
    }
    return {ALONG("sqlite_autoindex_jobs_1"), "", "", "j.id"};
}

#define ALONG_STATE(index) "job_state s INDEXED BY " index " CROSS JOIN jobs j ON j.id=s.job_id"

std::vector<Way> WaysOf(const JobList& list) {
    switch (list.sort) {
        case JobSort::kName:
            return {{ALONG("jobs_name"), "", "j.name", "j.id"}};
        case JobSort::kCreated:
            return {{ALONG("jobs_created"), "", "j.created_at", "j.id"}};
        case JobSort::kUpdated:
            return {{ALONG("jobs_updated"), "", "j.updated_at", "j.id"}};
        case JobSort::kLastRun:
            return {{ALONG_STATE("job_last"), "", "s.last_run_at", "s.job_id"}};
        case JobSort::kNextRun: {
            // Two indexes, so that planning does not meet jobs that are paused.
            std::vector<Way> ways;
            const auto enabled = list.filter.enabled;
            if (enabled.value_or(true)) {
                ways.push_back(
                    {ALONG_STATE("job_due"), "s.enabled=1", "s.next_run_at", "s.job_id"});
            }
            if (!enabled.value_or(false)) {
                ways.push_back(
                    {ALONG_STATE("job_due"), "s.enabled=0", "s.next_run_at", "s.job_id"});
            }
            return ways;
        }
        case JobSort::kId:
            break;
    }
    return {IdWay(list.filter)};
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

void AddAfter(ListSql& sql, const JobList& list, const Way& way) {
    if (!list.after) return;
    if (list.sort == JobSort::kId) {
        sql.Where(fmt::format("{}{}?", way.id, list.descending ? "<" : ">"), list.after->id);
    } else if (list.sort == JobSort::kName) {
        sql.After(way.column, way.id, list.descending, list.after->name, list.after->id);
    } else {
        sql.After(way.column, way.id, list.descending, list.after->time, list.after->id);
    }
}

ListSql Part(const JobList& list, const Way& way, ListPurpose purpose, std::int64_t limit) {
    ListSql sql;
    sql.text = fmt::format("{} FROM {}",
                           purpose == ListPurpose::kRows ? "SELECT " KSANA_JOB_COLUMNS
                                                         : "SELECT count(*) FROM (SELECT 1",
                           way.from);
    if (!way.condition.empty()) sql.Where(way.condition);
    if (list.sort == JobSort::kId && !list.filter.labels.empty()) {
        const auto& [key, value] = *list.filter.labels.begin();
        sql.values.emplace_back(key);
        sql.values.emplace_back(value);
    }
    AddFilter(sql, list);
    AddAfter(sql, list, way);
    if (purpose == ListPurpose::kCount) {
        sql.text += " LIMIT ?)";
    } else {
        const std::string_view direction = list.descending ? "DESC" : "ASC";
        sql.text += way.column.empty()
                        ? fmt::format(" ORDER BY {} {}", way.id, direction)
                        : fmt::format(" ORDER BY {0} {2}, {1} {2}", way.column, way.id, direction);
        sql.text += " LIMIT ?";
    }
    sql.values.emplace_back(limit);
    return sql;
}

}  // namespace

std::vector<ListSql> JobListSql(const JobList& list, ListPurpose purpose, std::int64_t limit) {
    std::vector<ListSql> parts;
    for (const Way& way : WaysOf(list)) parts.push_back(Part(list, way, purpose, limit));
    return parts;
}

}  // namespace ksana::store_sqlite
