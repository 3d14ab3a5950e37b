#include <fmt/core.h>

#include <algorithm>

#include "ksana/store_kit/lists/index_choice.hpp"
#include "ksana/store_postgres/lists/conditions.hpp"
#include "ksana/store_postgres/rows/job_columns.hpp"
#include "ksana/store_postgres/rows/packed_run.hpp"
#include "ksana/store_postgres/rows/postgres_transaction.hpp"

// Lists and counts of jobs.

namespace ksana::store_postgres {
namespace {

using store::JobSort;
using store_kit::JobFilterKey;
using store_kit::JobList;

// Adds the part of the filter that `job_state` has columns for.
void AddStateFilter(Conditions& where, const store::JobFilter& filter) {
    if (filter.enabled) where.Add("s.enabled = ${}::boolean", *filter.enabled);
    if (filter.last_state) where.Add("s.last_state = ${}::smallint", Small(*filter.last_state));
}

// Adds the rest of the filter.
void AddJobFilter(Conditions& where, const JobList& list) {
    const store::JobFilter& filter = list.filter;
    where.AddText("j.tenant = ${}::text", filter.tenant);
    if (!filter.tenant.empty() && filter.tenant != "default") where.And("j.tenant <> 'default'");
    where.AddText("j.name = ${}::text", filter.name);
    where.AddText("j.grp = ${}::text AND j.grp <> ''", filter.group);
    where.AddText("j.owner = ${}::text AND j.owner <> ''", filter.owner);
    where.AddText("j.type = ${}::text AND j.type <> ''", filter.type);
    where.AddText("j.calendar = ${}::text AND j.calendar <> ''", filter.calendar);
    if (filter.kind) where.Add("j.kind = ${}::smallint", Small(*filter.kind));
    if (!filter.labels.empty()) {
        where.AddArray("j.labels @> ${}::text[]", PairTexts(filter.labels));
    }
    where.AddWords(list.words, {"j.id", "j.name", "j.owner", "j.type", "s.last_error"});
}

void AddFilter(Conditions& where, const JobList& list) {
    AddJobFilter(where, list);
    AddStateFilter(where, list.filter);
}

// Returns whether the filter needs columns of `jobs`.
bool AsksForDefinitions(const JobList& list) {
    Conditions where;
    AddJobFilter(where, list);
    return !where.text().empty();
}

std::string_view SortColumn(JobSort sort) {
    switch (sort) {
        case JobSort::kName:
            return "j.name";
        case JobSort::kNextRun:
            return "s.next_run_at";
        case JobSort::kLastRun:
            return "s.last_run_at";
        case JobSort::kCreated:
            return "j.created_at";
        case JobSort::kUpdated:
            return "j.updated_at";
        case JobSort::kId:
            break;
    }
    return "";
}

// Returns the id column of the table that has the sort column: one index has both.
std::string_view IdColumn(JobSort sort) {
    return sort == JobSort::kNextRun || sort == JobSort::kLastRun ? "s.id" : "j.id";
}

// Adds "beyond this place" or, with = in `sign`, "up to this place".
void AddPlace(Conditions& where, const JobList& list, std::string_view sign,
              const JobList::After& place) {
    const std::string_view column = SortColumn(list.sort);
    const std::size_t id = where.Number(place.id);
    if (column.empty()) return where.And(fmt::format("j.id {} ${}::text", sign, id));
    const bool by_name = list.sort == JobSort::kName;
    const std::size_t value = by_name ? where.Number(place.name) : where.Number(place.time);
    where.And(fmt::format("({}, {}) {} (${}::{}, ${}::text)", column, IdColumn(list.sort), sign,
                          value, by_name ? "text" : "bigint", id));
}

void AddAfter(Conditions& where, const JobList& list) {
    if (list.after) AddPlace(where, list, list.descending ? "<" : ">", *list.after);
}

// A condition on a text column that has an index in the order of the id. The index leaves out
// `left_out`, mostly the value that most jobs have.
struct Narrowest {
    std::string_view column;
    std::string_view value;
    std::string_view left_out;
};

std::optional<Narrowest> NarrowestOf(const store::JobFilter& filter) {
    const auto [key, value] = store_kit::NarrowestKey(filter, true);
    switch (key) {
        case JobFilterKey::kName:
            return Narrowest{"j.name", value, ""};
        case JobFilterKey::kCalendar:
            return Narrowest{"j.calendar", value, ""};
        case JobFilterKey::kOwner:
            return Narrowest{"j.owner", value, ""};
        case JobFilterKey::kType:
            return Narrowest{"j.type", value, ""};
        case JobFilterKey::kGroup:
            return Narrowest{"j.grp", value, ""};
        case JobFilterKey::kTenant:
            return Narrowest{"j.tenant", value, "default"};
        case JobFilterKey::kNone:
        case JobFilterKey::kLabel:  // an index of another kind, which has no order
            break;
    }
    return {};
}

void AddNarrowest(Conditions& where, const store::JobFilter& filter) {
    const auto narrowest = NarrowestOf(filter);
    if (!narrowest) return;
    const std::size_t value = where.Number(std::string(narrowest->value));
    where.And(fmt::format("{0} = ${1}::text AND {0} <> '{2}'", narrowest->column, value,
                          narrowest->left_out));
}

// Returns SQL for the ids that match the most selective part of the filter; empty if no index
// helps. For a text column it compares rows, so that the planner can use no index of another order,
// however few rows it expects for a page.
std::string SelectNarrowest(Conditions& where, const store::JobFilter& filter) {
    if (!filter.labels.empty()) {
        where.AddArray("j.labels @> ${}::text[]", PairTexts(filter.labels));
        return fmt::format("SELECT j.id FROM ksana.jobs j{}", where.text());
    }
    const auto narrowest = NarrowestOf(filter);
    if (!narrowest) return "";
    const std::size_t value = where.Number(std::string(narrowest->value));
    where.And(
        fmt::format("({0}, j.id) >= (${1}::text, ''::text) AND {0} <= ${1}::text "
                    "AND {0} <> '{2}'",
                    narrowest->column, value, narrowest->left_out));
    return fmt::format("SELECT j.id FROM ksana.jobs j{} ORDER BY {}, j.id", where.text(),
                       narrowest->column);
}

// Returns whether the list has to read rows that do not belong to it. For labels it does not: their
// index finds the matching jobs, which are then sorted by id.
bool AsksForMore(const JobList& list) {
    Conditions all;
    AddFilter(all, list);
    Conditions narrow;
    if (list.sort == JobSort::kId) {
        if (!list.filter.labels.empty()) return false;
        AddNarrowest(narrow, list.filter);
    }
    return all.Take().size() > narrow.Take().size();
}

std::string OrderBy(const JobList& list) {
    const std::string_view direction = list.descending ? " DESC" : "";
    const std::string_view column = SortColumn(list.sort);
    std::string order = " ORDER BY ";
    if (!column.empty()) order += fmt::format("{}{}, ", column, direction);
    return order + fmt::format("{}{}", IdColumn(list.sort), direction);
}

// Maximum of definitions to read for a page in the order of the last run: finding them takes as
// long as other orders need for four times as many.
constexpr std::size_t kMostByLastRun = 1000;

constexpr std::string_view kDependants =
    "SELECT id FROM ksana.jobs WHERE depends_on @> ARRAY[$1::text] ORDER BY id";

}  // namespace

// Returns the ids that an index of another order finds for the filter, if they are no more than
// list.look; otherwise none.
Result<std::optional<std::vector<std::string>>> PostgresTransaction::FewIds(const JobList& list) {
    std::optional<std::vector<std::string>> ids;
    if (list.look == 0 || list.sort == JobSort::kId) return ids;
    Conditions where;
    const std::string sql = SelectNarrowest(where, list.filter);
    if (sql.empty()) return ids;
    const std::size_t limit = where.Number(static_cast<std::int64_t>(list.look) + 1);
    KSANA_TRY(const Rows rows,
              session_.QueryBuilt(fmt::format("{} LIMIT ${}::bigint", sql, limit), where.Take()));
    if (rows.size() > list.look) return ids;
    ids.emplace();
    for (std::size_t i = 0; i < rows.size(); ++i) ids->push_back(RowReader(rows, i).Text());
    return ids;
}

// Returns the next places in the order of last_run_at, which has no index (migration_steps.cpp):
// the query reads all of `job_state`, so it also applies that part of the filter.
Result<std::vector<JobList::After>> PostgresTransaction::PlacesByLastRun(const JobList& list,
                                                                         std::size_t count) {
    Conditions where;
    AddStateFilter(where, list.filter);
    AddAfter(where, list);
    const std::size_t limit = where.Number(static_cast<std::int64_t>(count));
    KSANA_TRY(
        const Rows rows,
        session_.QueryBuilt(fmt::format("SELECT s.last_run_at, s.id FROM ksana.job_state s{}{} "
                                        "LIMIT ${}::bigint",
                                        where.text(), OrderBy(list), limit),
                            where.Take()));
    std::vector<JobList::After> places;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        RowReader row(rows, i);
        JobList::After& place = places.emplace_back();
        place.time = row.Int64();
        place.id = row.Text();
    }
    return places;
}

// Lists the jobs among `ids` that match.
Result<std::vector<model::Job>> PostgresTransaction::ListAmong(
    const JobList& list, const std::vector<std::string>& ids) {
    Conditions where;
    where.Array(ids);
    AddFilter(where, list);
    AddAfter(where, list);
    const std::size_t limit = where.Number(static_cast<std::int64_t>(list.limit));
    KSANA_TRY(const Rows rows,
              session_.QueryBuilt(SelectJobsAmong(fmt::format("{}{} LIMIT ${}::bigint",
                                                              where.text(), OrderBy(list), limit)),
                                  where.Take()));
    return ReadJobs(rows);
}

// Returns the place where list.look rows of the index that the list follows end; none if the index
// has fewer rows or there is no such index.
Result<std::optional<JobList::After>> PostgresTransaction::HorizonOf(const JobList& list) {
    std::optional<JobList::After> horizon;
    if (list.look == 0 || list.sort == JobSort::kLastRun || !AsksForMore(list)) return horizon;
    Conditions where;
    if (list.sort == JobSort::kId) AddNarrowest(where, list.filter);
    AddAfter(where, list);
    const std::size_t offset = where.Number(static_cast<std::int64_t>(list.look) - 1);
    const bool by_name = list.sort == JobSort::kName;
    const bool by_time = list.sort != JobSort::kId && !by_name;
    KSANA_TRY(const Rows rows,
              session_.QueryBuilt(
                  fmt::format("SELECT {}, {}, {} FROM {}{}{} LIMIT 1 OFFSET ${}::bigint",
                              by_name ? "j.name" : "''::text",
                              by_time ? SortColumn(list.sort) : "0::bigint", IdColumn(list.sort),
                              list.sort == JobSort::kNextRun ? "ksana.job_state s" : "ksana.jobs j",
                              where.text(), OrderBy(list), offset),
                  where.Take()));
    if (rows.size() == 0) return horizon;
    RowReader row(rows, 0);
    JobList::After last;
    last.name = row.Text();
    last.time = row.Int64();
    last.id = row.Text();
    horizon = std::move(last);
    return horizon;
}

// Finds the jobs of the page in `job_state`, then reads their definitions. If the filter needs
// definitions, it looks at a bounded number of jobs.
Result<store_kit::ListedJobs> PostgresTransaction::ListByLastRun(const JobList& list) {
    const bool exact = !AsksForDefinitions(list);
    const std::size_t count = exact ? list.limit : std::min(list.look, kMostByLastRun);
    KSANA_TRY(const std::vector<JobList::After> places, PlacesByLastRun(list, count));
    std::vector<std::string> ids;
    for (const JobList::After& place : places) ids.push_back(place.id);
    store_kit::ListedJobs listed;
    KSANA_TRY(listed.rows, ListAmong(list, ids));
    if (!exact && places.size() == count) listed.scanned_to = places.back();
    return listed;
}

Result<store_kit::ListedJobs> PostgresTransaction::ListJobs(const JobList& list) {
    store_kit::ListedJobs listed;
    KSANA_TRY(const auto few, FewIds(list));
    if (few) {
        KSANA_TRY(listed.rows, ListAmong(list, *few));
        return listed;
    }
    if (list.sort == JobSort::kLastRun && (list.look != 0 || !AsksForDefinitions(list))) {
        return ListByLastRun(list);
    }
    KSANA_TRY(listed.scanned_to, HorizonOf(list));
    Conditions where;
    AddFilter(where, list);
    AddAfter(where, list);
    if (listed.scanned_to) {
        AddPlace(where, list, list.descending ? ">=" : "<=", *listed.scanned_to);
    }
    const std::size_t limit = where.Number(static_cast<std::int64_t>(list.limit));
    KSANA_TRY(const Rows rows,
              session_.QueryBuilt(SelectJobs(fmt::format("{}{} LIMIT ${}::bigint", where.text(),
                                                         OrderBy(list), limit)),
                                  where.Take()));
    KSANA_TRY(listed.rows, ReadJobs(rows));
    return listed;
}

Result<store::Counted> PostgresTransaction::CountJobs(const JobList& list, std::int64_t most) {
    KSANA_TRY(const auto horizon, HorizonOf(list));
    Conditions where;
    AddFilter(where, list);
    if (horizon) AddPlace(where, list, list.descending ? ">=" : "<=", *horizon);
    const std::size_t limit = where.Number(most);
    // With this ORDER BY the planner uses the index in which the horizon was found.
    KSANA_TRY(
        const Rows rows,
        session_.QueryBuilt(
            fmt::format("SELECT count(*) FROM (SELECT FROM ksana.job_state s JOIN ksana.jobs j "
                        "ON j.id = s.id{}{} LIMIT ${}::bigint) c",
                        where.text(), horizon ? OrderBy(list) : "", limit),
            where.Take()));
    const std::int64_t count = RowReader(rows, 0).Int64();
    return store::Counted{.count = count, .complete = !horizon || count == most};
}

Result<std::vector<std::string>> PostgresTransaction::DependantsOf(const std::string& job_id) {
    KSANA_TRY(const Rows rows, session_.Query(kDependants, Params().Add(job_id)));
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < rows.size(); ++i) ids.push_back(RowReader(rows, i).Text());
    return ids;
}

Result<std::vector<store::GroupSize>> PostgresTransaction::Groups(const store::GroupQuery& query) {
    Conditions where;
    where.AddText("j.grp = ${}::text", query.name);
    where.AddText("j.grp > ${}::text", query.after);
    const std::size_t limit = where.Number(static_cast<std::int64_t>(query.limit));
    KSANA_TRY(const Rows rows,
              session_.QueryBuilt(
                  fmt::format("SELECT j.grp, count(*), count(*) FILTER (WHERE NOT j.enabled) FROM "
                              "ksana.jobs j{} GROUP BY j.grp ORDER BY j.grp LIMIT ${}::bigint",
                              where.text(), limit),
                  where.Take()));
    std::vector<store::GroupSize> groups;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        RowReader row(rows, i);
        store::GroupSize& size = groups.emplace_back();
        size.name = row.Text();
        size.jobs = row.Int64();
        size.paused = row.Int64();
    }
    return groups;
}

}  // namespace ksana::store_postgres
