#include "ksana/store_sqlite/rows/job_rows.hpp"

#include <fmt/core.h>

#include "ksana/model/job/dependency.hpp"
#include "ksana/store/job_query.hpp"
#include "ksana/store_kit/driver/rows.hpp"
#include "ksana/store_sqlite/rows/job_history.hpp"
#include "ksana/store_sqlite/rows/packed_job.hpp"

namespace ksana::store_sqlite {

using model::Job;
using store_kit::kNoTime;

namespace {

Result<void> ReadInto(Query& query, Job& job) {
    const std::string_view id = query.View();
    const auto unpacked = UnpackJob(query.View(), job);
    if (!unpacked) {
        return Error(Code::kDataLoss,
                     fmt::format("sqlite: the stored job \"{}\" cannot be read: {}", id,
                                 unpacked.error().Describe()));
    }
    job.state.version = query.Int();
    job.state.created_at = query.Time();
    job.state.updated_at = query.Time();
    job.state.planned_until = query.OptionalTime();
    job.state.next_run_at = query.TimeUnless(kNoTime);
    job.state.last_run_at = query.TimeUnless(kNoTime);
    job.state.last_state = query.OptionalEnum<model::RunState>();
    query.Into(job.state.last_error);
    job.state.total_runs = query.Int();
    job.state.consecutive_failures = static_cast<std::int32_t>(query.Int());
    job.state.dependants = static_cast<std::int32_t>(query.Int());
    return {};
}

Result<void> InsertLinks(ReadSession& session, const Job& job) {
    Query label = session.connection.Prepared(Sql::kInsertLabel);
    for (const auto& [key, value] : job.labels) {
        KSANA_TRY_VOID(label.Again().Text(key).Text(value).Text(job.id).Run());
    }
    Query dependency = session.connection.Prepared(Sql::kInsertDependency);
    for (const std::string& parent : model::ParentsOf(job)) {
        KSANA_TRY_VOID(dependency.Again().Text(parent).Text(job.id).Run());
    }
    return {};
}

Result<void> DeleteLinks(ReadSession& session, const std::string& id) {
    KSANA_TRY_VOID(session.connection.Prepared(Sql::kDeleteLabels).Text(id).Run());
    return session.connection.Prepared(Sql::kDeleteDependencies).Text(id).Run();
}

Result<void> InsertState(ReadSession& session, const Job& job) {
    return session.connection.Prepared(Sql::kInsertJobState)
        .Text(job.id)
        .Int(job.enabled ? 1 : 0)
        .Time(job.state.planned_until)
        .TimeOr(job.state.next_run_at, kNoTime)
        .TimeOr(job.state.last_run_at, kNoTime)
        .Enum(job.state.last_state)
        .Text(job.state.last_error)
        .Int(job.state.total_runs)
        .Int(job.state.consecutive_failures)
        .Run();
}

}  // namespace

Result<std::vector<Job>> ReadJobs(Query& query) {
    constexpr std::size_t kUsual = 64;
    std::vector<Job> jobs;
    for (;;) {
        KSANA_TRY(const bool row, query.Next());
        if (!row) return jobs;
        if (jobs.empty()) jobs.reserve(kUsual);
        KSANA_TRY_VOID(ReadInto(query, jobs.emplace_back()));
    }
}

Result<std::vector<Job>> LoadJobs(ReadSession& session, const std::vector<std::string>& ids) {
    std::vector<Job> jobs;
    jobs.reserve(ids.size());
    Query query = session.connection.Prepared(Sql::kLoadJob);
    for (const std::string& id : ids) {
        KSANA_TRY(const bool row, query.Again().Text(id).Next());
        if (!row) continue;
        KSANA_TRY_VOID(ReadInto(query, jobs.emplace_back()));
    }
    return jobs;
}

Result<std::vector<bool>> InsertJobRows(ReadSession& session, const std::vector<Job>& jobs) {
    std::vector<bool> inserted;
    Query query = session.connection.Prepared(Sql::kInsertJob);
    for (const Job& job : jobs) {
        const std::string type = store::RunTypeOf(job);
        const std::string definition = PackJob(job);
        KSANA_TRY_VOID(query.Again()
                           .Text(job.id)
                           .Text(job.tenant)
                           .Text(job.group)
                           .Text(job.owner)
                           .Text(job.name)
                           .Int(job.enabled ? 1 : 0)
                           .Enum(KindOf(job.action))
                           .Text(type)
                           .Time(job.state.created_at)
                           .Time(job.state.updated_at)
                           .Int(job.state.version)
                           .Text(definition)
                           .Text(job.schedule.calendar)
                           .Run());
        inserted.push_back(session.connection.last_changes() != 0);
        if (!inserted.back()) continue;
        KSANA_TRY_VOID(InsertState(session, job));
        KSANA_TRY_VOID(InsertLinks(session, job));
    }
    return inserted;
}

Result<void> UpdateJobRows(ReadSession& session, const std::vector<Job>& jobs) {
    Query query = session.connection.Prepared(Sql::kUpdateJob);
    Query state = session.connection.Prepared(Sql::kUpdateJobState);
    for (const Job& job : jobs) {
        const std::string type = store::RunTypeOf(job);
        const std::string definition = PackJob(job);
        KSANA_TRY_VOID(query.Again()
                           .Text(job.tenant)
                           .Text(job.group)
                           .Text(job.owner)
                           .Text(job.name)
                           .Int(job.enabled ? 1 : 0)
                           .Enum(KindOf(job.action))
                           .Text(type)
                           .Time(job.state.updated_at)
                           .Int(job.state.version)
                           .Text(definition)
                           .Text(job.schedule.calendar)
                           .Text(job.id)
                           .Run());
        KSANA_TRY_VOID(state.Again()
                           .Int(job.enabled ? 1 : 0)
                           .Time(job.state.planned_until)
                           .TimeOr(job.state.next_run_at, kNoTime)
                           .Text(job.id)
                           .Run());
        KSANA_TRY_VOID(DeleteLinks(session, job.id));
        KSANA_TRY_VOID(InsertLinks(session, job));
    }
    return {};
}

Result<void> UpdatePlanRows(ReadSession& session, const std::vector<Job>& jobs) {
    Query query = session.connection.Prepared(Sql::kUpdatePlan);
    for (const Job& job : jobs) {
        KSANA_TRY_VOID(query.Again()
                           .Time(job.state.planned_until)
                           .TimeOr(job.state.next_run_at, kNoTime)
                           .Text(job.id)
                           .Run());
    }
    return {};
}

Result<void> UpdateDependantRows(ReadSession& session, const std::vector<Job>& jobs) {
    Query query = session.connection.Prepared(Sql::kUpdateDependants);
    for (const Job& job : jobs) {
        KSANA_TRY_VOID(query.Again().Int(job.state.dependants).Text(job.id).Run());
    }
    return {};
}

Result<void> DeleteJobRow(ReadSession& session, const std::string& id) {
    KSANA_TRY_VOID(ListRecentRuns(session, id));
    KSANA_TRY_VOID(session.connection.Prepared(Sql::kDeleteJob).Text(id).Run());
    KSANA_TRY_VOID(session.connection.Prepared(Sql::kDeleteJobState).Text(id).Run());
    return DeleteLinks(session, id);
}

}  // namespace ksana::store_sqlite
