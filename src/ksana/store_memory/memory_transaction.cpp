#include "ksana/store_memory/memory_transaction.hpp"

#include <algorithm>
#include <queue>

#include "ksana/model/run/decide.hpp"
#include "ksana/store/run_store.hpp"

namespace ksana::store_memory {
namespace {

using model::Job;
using model::Run;
using model::RunState;

}  // namespace

Result<std::vector<Job>> MemoryTransaction::LockJobs(const std::vector<std::string>& ids) {
    return Jobs(ids);
}

Result<std::vector<Job>> MemoryTransaction::LockDueJobs(TimePoint until, std::size_t limit) {
    std::vector<Job> jobs;
    tables_.due().Walk([&](const Job* job) {
        if (job->state.next_run_at > until || jobs.size() == limit) return false;
        jobs.push_back(*job);
        return true;
    });
    return jobs;
}

Result<std::vector<bool>> MemoryTransaction::InsertJobs(const std::vector<Job>& jobs) {
    std::vector<bool> inserted;
    for (const Job& job : jobs) {
        inserted.push_back(tables_.FindJob(job.id) == nullptr);
        if (inserted.back()) tables_.Set(JobKey{job.id}, job);
    }
    return inserted;
}

Result<void> MemoryTransaction::UpdateJobs(const std::vector<Job>& jobs) {
    for (const Job& job : jobs) {
        const Job* there = tables_.FindJob(job.id);
        if (there == nullptr) continue;
        Job next{job.definition(), there->state};
        next.state.version = job.state.version;
        next.state.updated_at = job.state.updated_at;
        next.state.planned_until = job.state.planned_until;
        next.state.next_run_at = job.state.next_run_at;
        tables_.Set(JobKey{job.id}, std::move(next));
    }
    return {};
}

Result<void> MemoryTransaction::UpdatePlans(const std::vector<Job>& jobs) {
    for (const Job& job : jobs) {
        const Job* there = tables_.FindJob(job.id);
        if (there == nullptr) continue;
        Job next = *there;
        next.state.planned_until = job.state.planned_until;
        next.state.next_run_at = job.state.next_run_at;
        tables_.Set(JobKey{job.id}, std::move(next));
    }
    return {};
}

Result<void> MemoryTransaction::UpdateDependants(const std::vector<Job>& jobs) {
    for (const Job& job : jobs) {
        const Job* there = tables_.FindJob(job.id);
        if (there == nullptr) continue;
        Job next = *there;
        next.state.dependants = job.state.dependants;
        tables_.Set(JobKey{job.id}, std::move(next));
    }
    return {};
}

Result<void> MemoryTransaction::AddTallies(const std::vector<model::JobTally>& tallies) {
    for (const model::JobTally& tally : tallies) {
        const Job* there = tables_.FindJob(tally.job_id);
        if (there == nullptr) continue;
        Job next = *there;
        model::ApplyTally(tally, next);
        tables_.Set(JobKey{tally.job_id}, std::move(next));
    }
    return {};
}

Result<void> MemoryTransaction::DeleteJob(const std::string& id) {
    tables_.Set(JobKey{id}, std::nullopt);
    return {};
}

Result<std::vector<Run>> MemoryTransaction::LockRuns(const std::vector<Uuid>& ids) {
    std::vector<Uuid> once = ids;
    std::ranges::sort(once);
    once.erase(std::ranges::unique(once).begin(), once.end());
    return Runs(once);
}

Result<void> MemoryTransaction::MakeDue(TimePoint now, std::size_t limit) {
    std::vector<Uuid> due;
    for (const auto& [ready_at, id] : tables_.scheduled()) {
        if (ready_at > now || due.size() == limit) break;
        due.push_back(id);
    }
    for (const Uuid& id : due) {
        Run run = *tables_.FindRun(id);
        model::Decide(run, {.kind = model::EventKind::kDue}, now);
        tables_.Set(RunKey{id}, std::move(run));
    }
    return {};
}

// Merges the queues of the requested types by rank.
Result<std::vector<Run>> MemoryTransaction::LockReady(const store::ClaimFilter& filter,
                                                      TimePoint now, std::size_t limit) {
    using Place = Tables::Ready::const_iterator;
    struct Queue {
        Place next;
        Place end;
    };
    const auto later = [](const Queue& a, const Queue& b) { return *a.next > *b.next; };
    std::priority_queue<Queue, std::vector<Queue>, decltype(later)> queues(later);
    for (const auto& [key, ready] : tables_.ready()) {
        const bool wanted = key.first == filter.kind &&
                            (filter.types.empty() ||
                             std::ranges::find(filter.types, key.second) != filter.types.end());
        if (wanted) queues.push({ready.begin(), ready.end()});
    }
    std::vector<Run> runs;
    while (!queues.empty() && runs.size() < limit) {
        Queue queue = queues.top();
        queues.pop();
        const Run& run = *tables_.FindRun(queue.next->second);
        if (store::Matches(filter, run, now)) runs.push_back(run);
        if (++queue.next != queue.end) queues.push(queue);
    }
    return runs;
}

Result<std::vector<Run>> MemoryTransaction::LockExpired(TimePoint now, std::size_t limit) {
    std::vector<Run> runs;
    for (const auto& [expires, id] : tables_.running()) {
        if (expires > now || runs.size() == limit) break;
        runs.push_back(*tables_.FindRun(id));
    }
    return runs;
}

Result<std::vector<Run>> MemoryTransaction::LockOwned(const std::vector<std::string>& owners,
                                                      std::size_t limit) {
    std::vector<Run> runs;
    for (const auto& [expires, id] : tables_.running()) {
        if (runs.size() == limit) break;
        const Run& run = *tables_.FindRun(id);
        if (std::ranges::find(owners, run.status.owner) != owners.end()) runs.push_back(run);
    }
    return runs;
}

Result<std::vector<store_kit::OverlapCounts>> MemoryTransaction::LockOverlapCounts(
    const std::vector<std::string>& job_ids) {
    std::vector<store_kit::OverlapCounts> gates;
    for (const std::string& job_id : job_ids) {
        store_kit::OverlapCounts& gate = gates.emplace_back(store_kit::OverlapCounts{job_id});
        for (const Uuid& id : tables_.UnfinishedOf(job_id)) {
            const model::RunStatus& status = tables_.FindRun(id)->status;
            const bool unstarted = status.attempt == 0 && (status.state == RunState::kScheduled ||
                                                           status.state == RunState::kQueued);
            gate.under_way += model::IsUnderWay(status) ? 1 : 0;
            gate.blocked += status.blocked ? 1 : 0;
            gate.waiting += unstarted && !status.blocked ? 1 : 0;
        }
    }
    return gates;
}

Result<std::vector<Run>> MemoryTransaction::LockGated(const std::string& job_id) {
    std::vector<Run> runs;
    for (const Uuid& id : tables_.UnfinishedOf(job_id)) {
        const Run& run = *tables_.FindRun(id);
        if (model::IsUnderWay(run.status) || run.status.blocked) runs.push_back(run);
    }
    return runs;
}

Result<std::optional<Run>> MemoryTransaction::LockFirstBlocked(const std::string& job_id) {
    std::optional<Run> first;
    for (const Uuid& id : tables_.UnfinishedOf(job_id)) {
        const Run& run = *tables_.FindRun(id);
        const bool blocked = run.status.blocked && !model::AwaitsJobs(run.status);
        if (blocked && (!first || run.status.ready_at < first->status.ready_at)) {
            first = run;
        }
    }
    return first;
}

Result<std::vector<Run>> MemoryTransaction::LockWronglyBlocked(std::size_t limit) {
    std::vector<Run> runs;
    for (const Uuid& id : tables_.blocked()) {
        if (runs.size() == limit) break;
        const Run& run = *tables_.FindRun(id);
        KSANA_TRY(const auto gates, LockOverlapCounts({run.job_id}));
        if (gates[0].under_way == 0) runs.push_back(run);
    }
    return runs;
}

Result<std::vector<Run>> MemoryTransaction::LockAwaiting(TimePoint now, std::size_t limit) {
    std::vector<Run> runs;
    for (const auto& [look_at, id] : tables_.awaiting()) {
        if (look_at > now || runs.size() == limit) break;
        runs.push_back(*tables_.FindRun(id));
    }
    return runs;
}

Result<std::vector<Run>> MemoryTransaction::LockUnstarted(const std::string& job_id,
                                                          std::size_t limit) {
    std::vector<Run> runs;
    for (const Uuid& id : tables_.UnfinishedOf(job_id)) {
        if (runs.size() == limit) break;
        const Run& run = *tables_.FindRun(id);
        const bool waits =
            run.status.state == RunState::kScheduled || run.status.state == RunState::kQueued;
        if (waits && run.status.attempt == 0) runs.push_back(run);
    }
    return runs;
}

Result<std::vector<bool>> MemoryTransaction::InsertRuns(const store_kit::RunRefs& runs) {
    std::vector<bool> inserted;
    for (const Run* row : runs) {
        const Run& run = *row;
        const bool same_fire =
            !run.job_id.empty() && run.nominal_at && tables_.FindFire(run.job_id, *run.nominal_at);
        inserted.push_back(!same_fire && tables_.FindRun(run.id) == nullptr);
        if (inserted.back()) tables_.Set(RunKey{run.id}, run);
    }
    return inserted;
}

Result<void> MemoryTransaction::UpdateRuns(const store_kit::RunRefs& runs) {
    for (const Run* run : runs) {
        if (tables_.FindRun(run->id) != nullptr) tables_.Set(RunKey{run->id}, *run);
    }
    return {};
}

Result<void> MemoryTransaction::DeleteRuns(const store_kit::RunRefs& runs) {
    for (const Run* run : runs) KSANA_TRY_VOID(DeleteRun(run->id));
    return {};
}

Result<void> MemoryTransaction::DeleteRun(const Uuid& id) {
    if (const Run* run = tables_.FindRun(id); run != nullptr && !run->unique.key.empty()) {
        KSANA_TRY_VOID(FreeKeys({{run->tenant, run->unique.key, id, std::nullopt}}));
    }
    tables_.Set(RunKey{id}, std::nullopt);
    if (!tables_.AttemptsOf(id).empty()) tables_.Set(AttemptsKey{id}, std::nullopt);
    return {};
}

Result<void> MemoryTransaction::InsertAttempts(const std::vector<model::Attempt>& attempts) {
    for (const model::Attempt& attempt : attempts) {
        std::vector<model::Attempt> rows = tables_.AttemptsOf(attempt.run_id);
        rows.push_back(attempt);
        std::ranges::sort(rows, {}, &model::Attempt::number);
        tables_.Set(AttemptsKey{attempt.run_id}, std::move(rows));
    }
    return {};
}

Result<std::size_t> MemoryTransaction::PurgeRuns(const store::PurgeParams& params) {
    std::vector<std::pair<TimePoint, Uuid>> old;
    for (const auto& [id, run] : tables_.runs()) {
        if (model::IsFinal(run.status.state) &&
            (params.states & model::SetOf(run.status.state)) != 0 && run.status.finished_at &&
            *run.status.finished_at < params.finished_before) {
            old.emplace_back(*run.status.finished_at, id);
        }
    }
    std::ranges::sort(old);
    if (old.size() > params.limit) old.resize(params.limit);
    for (const auto& [finished, id] : old) KSANA_TRY_VOID(DeleteRun(id));
    return old.size();
}

Result<std::vector<std::optional<Uuid>>> MemoryTransaction::TakeKeys(
    const std::vector<store_kit::KeyClaim>& claims, TimePoint now) {
    std::vector<std::optional<Uuid>> holders;
    for (const store_kit::KeyClaim& claim : claims) {
        const UniqueKey key{claim.tenant, claim.key};
        const KeyRow* there = tables_.FindKey(key);
        if (there != nullptr && (!there->until || *there->until > now)) {
            holders.emplace_back(there->run_id);
        } else {
            tables_.Set(key, KeyRow{claim.run_id, claim.until});
            holders.emplace_back();
        }
    }
    return holders;
}

Result<void> MemoryTransaction::FreeKeys(const std::vector<store_kit::KeyClaim>& claims) {
    for (const store_kit::KeyClaim& claim : claims) {
        const UniqueKey key{claim.tenant, claim.key};
        const KeyRow* there = tables_.FindKey(key);
        if (there != nullptr && there->run_id == claim.run_id) tables_.Set(key, std::nullopt);
    }
    return {};
}

Result<void> MemoryTransaction::InsertLedger(const std::vector<model::LedgerEntry>& entries) {
    for (model::LedgerEntry entry : entries) {
        if (entry.seq == 0) entry.seq = tables_.NextLedgerSeq();
        tables_.Set(LedgerKey{entry.seq}, entry);
    }
    return {};
}

Result<void> MemoryTransaction::InsertEvents(const std::vector<model::AuditEvent>& events) {
    for (model::AuditEvent event : events) {
        if (event.seq == 0) event.seq = tables_.NextEventSeq();
        tables_.Set(EventKey{event.seq}, event);
    }
    return {};
}

Result<std::size_t> MemoryTransaction::PurgeEvents(TimePoint before, std::size_t limit) {
    std::vector<std::int64_t> old;
    for (const auto& [seq, event] : tables_.events()) {
        if (old.size() == limit) break;
        if (event.at < before) old.push_back(seq);
    }
    for (const std::int64_t seq : old) tables_.Set(EventKey{seq}, std::nullopt);
    return old.size();
}

Result<std::optional<model::Document>> MemoryTransaction::LockDocument(const std::string& kind,
                                                                       const std::string& key) {
    std::optional<model::Document> found;
    if (const auto* there = tables_.FindDocument(kind, key)) found = *there;
    return found;
}

Result<void> MemoryTransaction::PutDocument(const model::Document& document) {
    tables_.Set(DocumentKey{document.kind, document.key}, document);
    return {};
}

Result<void> MemoryTransaction::DeleteDocument(const std::string& kind, const std::string& key) {
    tables_.Set(DocumentKey{kind, key}, std::nullopt);
    return {};
}

Result<std::size_t> MemoryTransaction::PurgeDocuments(const std::string& kind, TimePoint expired_by,
                                                      std::size_t limit) {
    std::vector<DocumentKey> old;
    for (const auto& [key, document] : tables_.documents()) {
        if (old.size() == limit) break;
        if (key.kind == kind && document.expires_at && *document.expires_at <= expired_by) {
            old.push_back(key);
        }
    }
    for (const DocumentKey& key : old) tables_.Set(key, std::nullopt);
    return old.size();
}

}  // namespace ksana::store_memory
