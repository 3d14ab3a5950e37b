#include "ksana/store_kit/jobs/kit_jobs.hpp"

#include <fmt/core.h>

#include <map>

#include "ksana/store/text_search.hpp"
#include "ksana/store_kit/documents/kit_events.hpp"
#include "ksana/store_kit/documents/text_checks.hpp"
#include "ksana/store_kit/jobs/job_plans.hpp"
#include "ksana/store_kit/jobs/job_writes.hpp"
#include "ksana/store_kit/lists/lists.hpp"
#include "ksana/store_kit/runs/kit_runs.hpp"

namespace ksana::store_kit {
namespace {

using model::Job;
constexpr std::string_view kLedgerOrder = "seq";

}  // namespace

Result<std::vector<Result<Job>>> KitJobs::Write(store::WriteJobsParams params) {
    KSANA_TRY_VOID(CheckBatch(params.writes.size(), "/writes"));
    std::vector<Result<Job>> outcomes;
    KSANA_TRY_VOID(backend_.Write([&](Transaction& tx) -> Result<void> {
        KSANA_TRY(const TimePoint now, TimeOf(params.now, tx));
        KSANA_TRY(outcomes, WriteJobs(tx, now, params.writes, ids_));
        return {};
    }));
    return outcomes;
}

Result<void> KitJobs::Delete(store::DeleteJobParams params) {
    KSANA_TRY_VOID(CheckAudit(params.audit));
    return backend_.Write([&](Transaction& tx) -> Result<void> {
        KSANA_TRY(const TimePoint now, TimeOf(params.now, tx));
        return DeleteJob(tx, now, params, ids_);
    });
}

Result<Job> KitJobs::Get(const std::string& id) {
    std::vector<Job> jobs;
    KSANA_TRY_VOID(backend_.Read([&](Reader& rows) -> Result<void> {
        KSANA_TRY(jobs, rows.Jobs({id}));
        return {};
    }));
    if (jobs.empty()) return Error(Code::kNotFound, fmt::format("there is no job \"{}\"", id));
    return std::move(jobs[0]);
}

Result<std::vector<Job>> KitJobs::GetMany(const std::vector<std::string>& ids) {
    KSANA_TRY_VOID(CheckBatch(ids.size(), "/ids"));
    std::map<std::string, Job> found;
    KSANA_TRY_VOID(backend_.Read([&](Reader& rows) -> Result<void> {
        KSANA_TRY(std::vector<Job> jobs, rows.Jobs(ids));
        found.clear();
        for (Job& job : jobs) found.emplace(job.id, std::move(job));
        return {};
    }));
    std::vector<Job> in_order;
    for (const std::string& id : ids) {
        if (const auto job = found.find(id); job != found.end()) in_order.push_back(job->second);
    }
    return in_order;
}

Result<store::Page<Job>> KitJobs::List(const store::JobQuery& query) {
    KSANA_TRY(const JobList list, ListOf(query));
    ListedJobs listed;
    KSANA_TRY_VOID(backend_.Read([&](Reader& rows) -> Result<void> {
        KSANA_TRY(listed, rows.ListJobs(list));
        return {};
    }));
    return PageOf(query, std::move(listed));
}

Result<std::vector<std::string>> KitJobs::Dependants(const std::string& id) {
    std::vector<std::string> ids;
    KSANA_TRY_VOID(backend_.Read([&](Reader& rows) -> Result<void> {
        KSANA_TRY(ids, rows.DependantsOf(id));
        return {};
    }));
    return ids;
}

Result<store::Counted> KitJobs::CountWithin(const store::JobFilter& filter,
                                            const store::CountBounds& bounds) {
    const JobList list{
        .filter = filter, .words = store::SearchWords(filter.text), .look = bounds.look};
    store::Counted counted;
    KSANA_TRY_VOID(backend_.Read([&](Reader& rows) -> Result<void> {
        KSANA_TRY(counted, rows.CountJobs(list, bounds.most));
        return {};
    }));
    return counted;
}

Result<std::vector<store::GroupSize>> KitJobs::Groups(const store::GroupQuery& query) {
    KSANA_TRY([[maybe_unused]] const std::size_t limit, CheckLimit(query.limit));
    std::vector<store::GroupSize> groups;
    KSANA_TRY_VOID(backend_.Read([&](Reader& rows) -> Result<void> {
        KSANA_TRY(groups, rows.Groups(query));
        return {};
    }));
    return groups;
}

Result<store::Planned> KitJobs::PlanDue(const store::PlanParams& params,
                                        const store::Planner& planner) {
    KSANA_TRY_VOID(CheckBatch(params.limit, "/limit"));
    store::Planned planned;
    KSANA_TRY_VOID(backend_.Write([&](Transaction& tx) -> Result<void> {
        KSANA_TRY(const TimePoint now, TimeOf(params.now, tx));
        KSANA_TRY(planned, PlanDueJobs(tx, now, params, planner, ids_));
        return {};
    }));
    return planned;
}

Result<store::Planned> KitJobs::PlanJobs(const store::PlanJobsParams& params,
                                         const store::Planner& planner) {
    KSANA_TRY_VOID(CheckBatch(params.ids.size(), "/ids"));
    store::Planned planned;
    KSANA_TRY_VOID(backend_.Write([&](Transaction& tx) -> Result<void> {
        KSANA_TRY(const TimePoint now, TimeOf(params.now, tx));
        KSANA_TRY(planned, PlanTheseJobs(tx, now, params.ids, planner, ids_));
        return {};
    }));
    return planned;
}

Result<store::JobStatistics> KitJobs::Statistics(const store::StatisticsParams& params) {
    std::vector<store::RunSample> samples;
    KSANA_TRY_VOID(backend_.Read([&](Reader& rows) -> Result<void> {
        KSANA_TRY(samples, rows.Samples(params, store::kMaxStatisticsRuns));
        return {};
    }));
    return store::Summarise(samples);
}

Result<store::Page<model::LedgerEntry>> KitJobs::Ledger(const store::LedgerParams& params) {
    LedgerList list{.job_id = params.job_id, .from = params.from, .until = params.until};
    KSANA_TRY(list.limit, CheckLimit(params.limit));
    KSANA_TRY(list.after, ParseSeq(kLedgerOrder, params.cursor));
    store::Page<model::LedgerEntry> page;
    KSANA_TRY_VOID(backend_.Read([&](Reader& rows) -> Result<void> {
        KSANA_TRY(page.items, rows.ListLedger(list));
        return {};
    }));
    if (page.items.size() == list.limit) {
        page.next = SeqCursor(kLedgerOrder, page.items.back().seq);
    }
    return page;
}

Result<std::optional<model::Run>> KitJobs::FindFire(const std::string& job_id, TimePoint nominal) {
    std::optional<model::Run> run;
    KSANA_TRY_VOID(backend_.Read([&](Reader& rows) -> Result<void> {
        KSANA_TRY(run, rows.FindFire(job_id, nominal));
        return {};
    }));
    return run;
}

Result<std::vector<TimePoint>> KitJobs::FindFires(const std::string& job_id,
                                                  const std::vector<TimePoint>& nominals) {
    KSANA_TRY_VOID(CheckBatch(nominals.size(), "/nominals"));
    std::vector<TimePoint> found;
    KSANA_TRY_VOID(backend_.Read([&](Reader& rows) -> Result<void> {
        found.clear();
        for (const TimePoint nominal : nominals) {
            KSANA_TRY(const auto run, rows.FindFire(job_id, nominal));
            if (run) found.push_back(nominal);
        }
        return {};
    }));
    return found;
}

}  // namespace ksana::store_kit
