#include <fmt/core.h>

#include "ksana/store_postgres/conditions.hpp"
#include "ksana/store_postgres/job_columns.hpp"
#include "ksana/store_postgres/pair_texts.hpp"
#include "ksana/store_postgres/postgres_transaction.hpp"

// Lists and counts of jobs.

namespace ksana::store_postgres {
namespace {

using store::JobSort;
using store_kit::JobList;

void AddFilter(Conditions& where, const JobList& list) {
    const store::JobFilter& filter = list.filter;
    where.AddText("j.tenant = ${}::text", filter.tenant);
    if (!filter.tenant.empty() && filter.tenant != "default") where.And("j.tenant <> 'default'");
    where.AddText("j.name = ${}::text", filter.name);
    where.AddText("j.grp = ${}::text AND j.grp <> ''", filter.group);
    where.AddText("j.owner = ${}::text AND j.owner <> ''", filter.owner);
    where.AddText("j.type = ${}::text AND j.type <> ''", filter.type);
    if (filter.enabled) where.Add("s.enabled = ${}::boolean", *filter.enabled);
    if (filter.kind) where.Add("j.kind = ${}::smallint", Small(*filter.kind));
    if (filter.last_state) where.Add("s.last_state = ${}::smallint", Small(*filter.last_state));
    if (!filter.labels.empty()) {
        where.AddArray("j.labels @> ${}::text[]", PairTexts(filter.labels));
    }
    where.AddWords(list.words, {"j.id", "j.name", "j.owner", "j.type", "s.last_error"});
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

// Of the same table as the column that is sorted by: one index has both.
std::string_view IdColumn(JobSort sort) {
    return sort == JobSort::kNextRun || sort == JobSort::kLastRun ? "s.id" : "j.id";
}

void AddAfter(Conditions& where, const JobList& list) {
    if (!list.after) return;
    const std::string_view sign = list.descending ? "<" : ">";
    const std::string_view column = SortColumn(list.sort);
    const std::size_t id = where.Number(list.after->id);
    if (column.empty()) return where.And(fmt::format("j.id {} ${}::text", sign, id));
    const bool by_name = list.sort == JobSort::kName;
    const std::size_t value =
        by_name ? where.Number(list.after->name) : where.Number(list.after->time);
    where.And(fmt::format("({}, {}) {} (${}::{}, ${}::text)", column, IdColumn(list.sort), sign,
                          value, by_name ? "text" : "bigint", id));
}

std::string OrderBy(const JobList& list) {
    const std::string_view direction = list.descending ? " DESC" : "";
    const std::string_view column = SortColumn(list.sort);
    std::string order = " ORDER BY ";
    if (!column.empty()) order += fmt::format("{}{}, ", column, direction);
    return order + fmt::format("{}{}", IdColumn(list.sort), direction);
}

constexpr std::string_view kDependants =
    "SELECT id FROM ksana.jobs WHERE depends_on @> ARRAY[$1::text] ORDER BY id";

}  // namespace

// By the time of the last run there is no index (migration_steps.cpp): all of `job_state` is looked
// at, but without a filter nothing else, and the page alone is joined with the definitions.
Result<std::vector<model::Job>> PostgresTransaction::ListJobs(const JobList& list) {
    Conditions where;
    AddFilter(where, list);
    const bool page_first = list.sort == JobSort::kLastRun && where.text().empty();
    AddAfter(where, list);
    const std::size_t limit = where.Number(static_cast<std::int64_t>(list.limit));
    const std::string order = OrderBy(list);
    const std::string rest = fmt::format("{}{} LIMIT ${}::bigint", where.text(), order, limit);
    KSANA_TRY(const Rows rows,
              session_.QueryBuilt(page_first ? SelectPageOfJobs(rest, order) : SelectJobs(rest),
                                  where.Take()));
    return ReadJobs(rows);
}

Result<std::int64_t> PostgresTransaction::CountJobs(const JobList& list, std::int64_t most) {
    Conditions where;
    AddFilter(where, list);
    const std::size_t limit = where.Number(most);
    KSANA_TRY(
        const Rows rows,
        session_.QueryBuilt(fmt::format("SELECT count(*) FROM (SELECT FROM ksana.job_state s "
                                        "JOIN ksana.jobs j ON j.id = s.id{} LIMIT ${}::bigint) c",
                                        where.text(), limit),
                            where.Take()));
    return RowReader(rows, 0).Int64();
}

Result<std::vector<std::string>> PostgresTransaction::DependantsOf(const std::string& job_id) {
    KSANA_TRY(const Rows rows, session_.Query(kDependants, Params().Add(job_id)));
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < rows.size(); ++i) ids.push_back(RowReader(rows, i).Text());
    return ids;
}

}  // namespace ksana::store_postgres
