#include "ksana/store_kit/jobs/job_writes.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

#include "ksana/model/job/job_tally.hpp"
#include "ksana/model/job/join.hpp"
#include "ksana/store_kit/documents/kit_events.hpp"
#include "ksana/store_kit/documents/text_checks.hpp"
#include "ksana/store_kit/jobs/job_edges.hpp"
#include "ksana/store_kit/jobs/job_plans.hpp"
#include "ksana/store_kit/runs/followers.hpp"
#include "ksana/store_kit/runs/run_changes.hpp"

namespace ksana::store_kit {
namespace {

using model::Job;
using store::JobWrite;
using store::WriteMode;

// How many runs of a deleted job are cancelled in one step.
constexpr std::size_t kCancelBatch = 1'000;

Error NotFound(const std::string& id) {
    return {Code::kNotFound, fmt::format("there is no job \"{}\"", id)};
}

Error AlreadyThere(const std::string& id) {
    return {Code::kAlreadyExists, fmt::format("there is a job \"{}\" already", id)};
}

Result<void> CheckVersion(const Job& job, const std::optional<std::int64_t>& expected) {
    if (!expected || *expected == job.state.version) return {};
    return Error(Code::kConflict, fmt::format("job \"{}\" is at version {}, not {}", job.id,
                                              job.state.version, *expected));
}

// Returns the new definition with the stored state.
Job Merge(const Job& definition, const Job& stored, TimePoint now) {
    Job job{definition.definition(), stored.state};
    ++job.state.version;
    job.state.updated_at = now;
    return job;
}

Job Fresh(const Job& definition, TimePoint now) {
    return {definition.definition(),
            {.version = 1,
             .created_at = now,
             .updated_at = now,
             .planned_until = definition.state.planned_until,
             .next_run_at = definition.state.next_run_at}};
}

// One call of WriteJobs: sorts the writes into inserts and updates, then writes both.
class Writer {
  public:
    Writer(Transaction& tx, TimePoint now, RunSource& ids)
        : tx_(tx), now_(now), edges_(tx), plans_(tx, now, ids, no_start_) {}

    Result<std::vector<Result<Job>>> Run(const std::vector<JobWrite>& writes) {
        KSANA_TRY(const std::set<std::string> ids, edges_.Begin(writes));
        KSANA_TRY(std::vector<Job> stored, tx_.LockJobs({ids.begin(), ids.end()}));
        for (Job& job : stored) stored_.emplace(job.id, std::move(job));
        for (std::size_t i = 0; i < writes.size(); ++i) outcomes_.push_back(Sort(writes[i], i));
        KSANA_TRY_VOID(Insert(writes));
        if (!updates_.empty()) KSANA_TRY_VOID(tx_.UpdateJobs(updates_));
        KSANA_TRY_VOID(edges_.End(stored_));
        KSANA_TRY_VOID(plans_.Write());
        if (!inserts_.empty() || !updates_.empty()) tx_.Touch(store::Topic::kJobs);
        KSANA_TRY_VOID(KeepAudits(writes));
        return std::move(outcomes_);
    }

  private:
    Result<Job> Sort(const JobWrite& write, std::size_t index) {
        std::vector<Problem> problems;
        const std::string path = fmt::format("/writes/{}/job", index);
        CheckJob(write.job, Path(path), problems);
        if (write.audit) CheckEvent(*write.audit, Path("/writes", index) / "audit", problems);
        if (!seen_.insert(write.job.id).second) {
            problems.push_back({path + "/id", "the same job twice in one call"});
        }
        KSANA_TRY_VOID(Verdict(std::move(problems)));
        const auto found = stored_.find(write.job.id);
        if (found == stored_.end()) return SortNew(write, index);
        if (write.mode == WriteMode::kCreate) return AlreadyThere(write.job.id);
        KSANA_TRY_VOID(CheckVersion(found->second, write.expected_version));
        KSANA_TRY_VOID(edges_.Accept(write.job, stored_));
        Job job = Merge(write.job, found->second, now_);
        KSANA_TRY_VOID(ForgetJoin(found->second, job));
        if (write.plan) {
            if (write.job.state.planned_until != found->second.state.planned_until) {
                return Error(Code::kConflict, "the job was planned meanwhile; read it again");
            }
            plans_.Add(job, *write.plan);
        }
        if (job.schedule != found->second.schedule) KSANA_TRY_VOID(BeginJoin(tx_, job));
        updates_.push_back(job);
        return WithTally(std::move(job), write);
    }

    // A changed `after` schedule begins a new join.
    Result<void> ForgetJoin(const Job& before, const Job& after) {
        const bool had = before.schedule.kind == schedule::ScheduleKind::kAfter;
        if (!had || before.schedule == after.schedule) return {};
        return tx_.DeleteDocument(model::kJoinKind, after.id);
    }

    // Returns the job as it is after the plan's tally, which is written separately.
    static Job WithTally(Job job, const JobWrite& write) {
        if (write.plan && write.plan->tally) model::ApplyTally(*write.plan->tally, job);
        return job;
    }

    Result<Job> SortNew(const JobWrite& write, std::size_t index) {
        if (write.mode == WriteMode::kReplace) return NotFound(write.job.id);
        if (write.expected_version.value_or(0) != 0) return NotFound(write.job.id);
        KSANA_TRY_VOID(edges_.Accept(write.job, stored_));
        inserts_.push_back(Fresh(write.job, now_));
        insert_places_.push_back(index);
        return inserts_.back();
    }

    // A row that is not inserted has just been inserted by another transaction.
    Result<void> Insert(const std::vector<JobWrite>& writes) {
        if (inserts_.empty()) return {};
        for (std::size_t n = 0; n < inserts_.size(); ++n) {
            const JobWrite& write = writes[insert_places_[n]];
            if (write.plan) plans_.Add(inserts_[n], *write.plan);
            KSANA_TRY_VOID(BeginJoin(tx_, inserts_[n]));
            outcomes_[insert_places_[n]] = WithTally(inserts_[n], write);
        }
        KSANA_TRY(const std::vector<bool> inserted, tx_.InsertJobs(inserts_));
        for (std::size_t n = 0; n < inserts_.size(); ++n) {
            if (inserted[n]) continue;
            // The runs of its plan must not be stored, so the caller must repeat the whole call.
            if (writes[insert_places_[n]].plan) {
                return Error(Code::kConflict, "a job of this id was made meanwhile; try again");
            }
            outcomes_[insert_places_[n]] = AlreadyThere(inserts_[n].id);
        }
        return {};
    }

    Result<void> KeepAudits(const std::vector<JobWrite>& writes) {
        std::vector<model::AuditEvent> events;
        for (std::size_t i = 0; i < writes.size(); ++i) {
            if (outcomes_[i] && writes[i].audit) events.push_back(*writes[i].audit);
        }
        return KeepAudit(tx_, now_, std::move(events));
    }

    Transaction& tx_;
    TimePoint now_;
    const std::optional<store::StartAs> no_start_;
    JobEdges edges_;
    JobPlans plans_;
    std::map<std::string, Job> stored_;  // those written, and those they name
    std::set<std::string> seen_;
    std::vector<Result<Job>> outcomes_;
    std::vector<Job> inserts_;
    std::vector<std::size_t> insert_places_;
    std::vector<Job> updates_;
};

Result<void> CancelUnstarted(Transaction& tx, TimePoint now, const std::string& job_id,
                             RunSource& ids) {
    const store::FollowUp none;
    for (;;) {
        KSANA_TRY(std::vector<model::Run> runs, tx.LockUnstarted(job_id, kCancelBatch));
        RunChanges changes(tx, now, none, ids);
        for (model::Run& run : runs) changes.Change(run, {.kind = model::EventKind::kCancel});
        KSANA_TRY_VOID(changes.Flush());
        if (runs.size() < kCancelBatch) return {};
    }
}

}  // namespace

Result<std::vector<Result<Job>>> WriteJobs(Transaction& tx, TimePoint now,
                                           const std::vector<JobWrite>& writes, RunSource& ids) {
    return Writer(tx, now, ids).Run(writes);
}

Result<void> DeleteJob(Transaction& tx, TimePoint now, const store::DeleteJobParams& params,
                       RunSource& ids) {
    JobEdges edges(tx);
    KSANA_TRY(const std::set<std::string> concerned, edges.BeginDelete(params.id));
    KSANA_TRY(std::vector<Job> locked, tx.LockJobs({concerned.begin(), concerned.end()}));
    std::map<std::string, Job> jobs;
    for (Job& job : locked) jobs.emplace(job.id, std::move(job));
    const auto found = jobs.find(params.id);
    if (found == jobs.end()) return NotFound(params.id);
    KSANA_TRY_VOID(CheckVersion(found->second, params.expected_version));
    KSANA_TRY(const std::vector<std::string> dependants, tx.DependantsOf(params.id));
    if (!dependants.empty()) {
        return Error(Code::kConflict, fmt::format("job \"{}\" is depended on by {}", params.id,
                                                  fmt::join(dependants, ", ")));
    }
    KSANA_TRY_VOID(CancelUnstarted(tx, now, params.id, ids));
    KSANA_TRY_VOID(KeepAudit(tx, now, params.audit));
    tx.Touch(store::Topic::kJobs);
    if (found->second.schedule.kind == schedule::ScheduleKind::kAfter) {
        KSANA_TRY_VOID(tx.DeleteDocument(model::kJoinKind, params.id));
    }
    KSANA_TRY_VOID(tx.DeleteJob(params.id));
    return edges.End(jobs);
}

}  // namespace ksana::store_kit
