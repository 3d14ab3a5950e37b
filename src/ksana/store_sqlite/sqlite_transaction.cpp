#include "ksana/store_sqlite/sqlite_transaction.hpp"

#include <algorithm>
#include <iterator>

#include "ksana/model/run/decide.hpp"
#include "ksana/store_sqlite/rows/claim.hpp"
#include "ksana/store_sqlite/rows/job_history.hpp"

namespace ksana::store_sqlite {

using model::Job;
using model::Run;
using store_kit::KeyClaim;
using store_kit::OverlapCounts;

namespace {

std::int64_t Limit(std::size_t limit) { return static_cast<std::int64_t>(limit); }

// Returns each id once, in the order of the table.
template <class T>
std::vector<T> Once(std::vector<T> ids) {
    std::ranges::sort(ids);
    const auto rest = std::ranges::unique(ids);
    ids.erase(rest.begin(), rest.end());
    return ids;
}

}  // namespace

Result<std::size_t> SqliteTransaction::Changed(Query& query) {
    KSANA_TRY_VOID(query.Run());
    return static_cast<std::size_t>(session_.connection.last_changes());
}

Result<std::vector<Job>> SqliteTransaction::LockJobs(const std::vector<std::string>& ids) {
    return LoadJobs(session_, Once(ids));
}

Result<std::vector<Job>> SqliteTransaction::LockDueJobs(TimePoint until, std::size_t limit) {
    Query query = Prepared(Sql::kFindDueJobs);
    query.Time(until).Int(Limit(limit));
    return ReadJobs(query);
}

Result<std::vector<bool>> SqliteTransaction::InsertJobs(const std::vector<Job>& jobs) {
    return InsertJobRows(session_, jobs);
}

Result<void> SqliteTransaction::UpdateJobs(const std::vector<Job>& jobs) {
    return UpdateJobRows(session_, jobs);
}

Result<void> SqliteTransaction::UpdatePlans(const std::vector<Job>& jobs) {
    return UpdatePlanRows(session_, jobs);
}

Result<void> SqliteTransaction::UpdateDependants(const std::vector<Job>& jobs) {
    return UpdateDependantRows(session_, jobs);
}

Result<void> SqliteTransaction::AddTallies(const std::vector<model::JobTally>& tallies) {
    return AddTallyRows(session_, tallies);
}

Result<void> SqliteTransaction::DeleteJob(const std::string& id) {
    return DeleteJobRow(session_, id);
}

Result<std::vector<Run>> SqliteTransaction::LockRuns(const std::vector<Uuid>& ids) {
    std::vector<Run> runs;
    std::vector<Uuid> others;
    runs.reserve(ids.size());
    for (const Uuid& id : Once(ids)) {
        if (!session_.running.TakeInto(id, runs)) others.push_back(id);
    }
    if (others.empty()) return runs;
    KSANA_TRY(std::vector<Run> rows, LoadRuns(session_, others));
    std::ranges::move(rows, std::back_inserter(runs));
    return runs;
}

Result<void> SqliteTransaction::MakeDue(TimePoint now, std::size_t limit) {
    KSANA_TRY(std::vector<Run> runs,
              ReadRange(session_, UpTo(kScheduledLane, "", Micros(now)), limit));
    if (runs.empty()) return {};
    for (Run& run : runs) {
        model::Decide(run, {.kind = model::EventKind::kDue}, now);
    }
    return UpdateRunRows(session_, store_kit::RefsTo(runs));
}

Result<std::vector<Run>> SqliteTransaction::LockReady(const store::ClaimFilter& filter,
                                                      TimePoint now, std::size_t limit) {
    return FindReady(session_, filter, now, limit);
}

Result<std::vector<Run>> SqliteTransaction::LockExpired(TimePoint now, std::size_t limit) {
    return ReadRange(session_, UpTo(kRunningLane, "", Micros(now)), limit);
}

Result<std::vector<Run>> SqliteTransaction::LockOwned(const std::vector<std::string>& owners,
                                                      std::size_t limit) {
    std::vector<Run> runs;
    const PlaceRange running = InLane(kRunningLane);
    Query query = Prepared(Sql::kFindInRange);
    query.Range(running).Int(-1);
    while (runs.size() < limit) {
        KSANA_TRY(const bool row, query.Next());
        if (!row) break;
        Run run;
        KSANA_TRY_VOID(ReadInto(session_, query, run));
        const bool owned = std::ranges::find(owners, run.status.owner) != owners.end();
        if (owned) runs.push_back(std::move(run));
    }
    return runs;
}

Result<std::vector<OverlapCounts>> SqliteTransaction::LockOverlapCounts(
    const std::vector<std::string>& job_ids) {
    std::vector<OverlapCounts> gates;
    gates.reserve(job_ids.size());
    Query query = Prepared(Sql::kGatesOfJob);
    for (const std::string& id : job_ids) {
        OverlapCounts& gate = gates.emplace_back();
        gate.job_id = id;
        query.Again().Text(id);
        for (;;) {
            KSANA_TRY(const bool row, query.Next());
            if (!row) break;
            CountOpenRun(query.Int(), gate);
        }
    }
    return gates;
}

Result<std::vector<Run>> SqliteTransaction::LockGated(const std::string& job_id) {
    Query query = Prepared(Sql::kFindGated);
    query.Text(job_id);
    return ReadRuns(session_, query);
}

Result<std::optional<Run>> SqliteTransaction::LockFirstBlocked(const std::string& job_id) {
    KSANA_TRY(std::vector<Run> runs, ReadRange(session_, InGroup(kBlockedLane, job_id), 1));
    if (runs.empty()) return std::optional<Run>();
    return std::optional(std::move(runs.front()));
}

Result<std::vector<Run>> SqliteTransaction::LockWronglyBlocked(std::size_t limit) {
    const PlaceRange blocked = InLane(kBlockedLane);
    Query query = Prepared(Sql::kFindStray);
    query.Range(blocked).Int(Limit(limit));
    return ReadRuns(session_, query);
}

Result<std::vector<Run>> SqliteTransaction::LockAwaiting(TimePoint now, std::size_t limit) {
    return ReadRange(session_, UpTo(kAwaitingLane, "", Micros(now)), limit);
}

Result<std::vector<Run>> SqliteTransaction::LockUnstarted(const std::string& job_id,
                                                          std::size_t limit) {
    Query query = Prepared(Sql::kFindUnstarted);
    query.Text(job_id).Int(Limit(limit));
    return ReadRuns(session_, query);
}

Result<std::vector<bool>> SqliteTransaction::InsertRuns(const store_kit::RunRefs& runs) {
    return InsertRunRows(session_, runs);
}

Result<void> SqliteTransaction::UpdateRuns(const store_kit::RunRefs& runs) {
    return UpdateRunRows(session_, runs);
}

Result<void> SqliteTransaction::DeleteRuns(const store_kit::RunRefs& runs) {
    return DeleteRunRows(session_, runs);
}

Result<void> SqliteTransaction::InsertAttempts(const std::vector<model::Attempt>& attempts) {
    return InsertAttemptRows(session_, attempts);
}

Result<std::size_t> SqliteTransaction::PurgeRuns(const store::PurgeParams& params) {
    std::vector<std::pair<std::int64_t, Uuid>> oldest;  // of each state as many as may be purged
    for (std::size_t i = 0; i < model::kEnumCount<model::RunState>; ++i) {
        const auto state = static_cast<model::RunState>(i);
        if ((params.states & model::SetOf(state)) == 0 || !model::IsFinal(state)) continue;
        const PlaceRange old{InLane(LaneOf(state)).from,
                             FirstPlace(LaneOf(state), Micros(params.finished_before))};
        Query query = Prepared(Sql::kIdsInRange);
        query.Range(old).Int(Limit(params.limit));
        for (;;) {
            KSANA_TRY(const bool row, query.Next());
            if (!row) break;
            const Uuid id = query.Id();
            oldest.emplace_back(ReadPlace(query.View()).order, id);
        }
    }
    std::ranges::sort(oldest);
    if (oldest.size() > params.limit) oldest.resize(params.limit);
    std::vector<Uuid> ids;
    ids.reserve(oldest.size());
    for (const auto& [finished, id] : oldest) ids.push_back(id);
    KSANA_TRY(const std::vector<Run> runs, LoadRuns(session_, ids));
    KSANA_TRY_VOID(DeleteRunRows(session_, store_kit::RefsTo(runs)));
    return runs.size();
}

Result<std::vector<std::optional<Uuid>>> SqliteTransaction::TakeKeys(
    const std::vector<KeyClaim>& claims, TimePoint now) {
    std::vector<std::optional<Uuid>> holders;
    holders.reserve(claims.size());
    Query find = Prepared(Sql::kFindKey);
    Query take = Prepared(Sql::kTakeKey);
    for (const KeyClaim& claim : claims) {
        KSANA_TRY(const bool row, find.Again().Text(claim.tenant).Text(claim.key).Next());
        if (row) {
            const Uuid holder = find.Id();
            const auto until = find.OptionalTime();
            if (!until || *until > now) {
                holders.emplace_back(holder);
                continue;
            }
        }
        find.Again();
        KSANA_TRY_VOID(take.Again()
                           .Text(claim.tenant)
                           .Text(claim.key)
                           .Id(claim.run_id)
                           .Time(claim.until)
                           .Run());
        holders.emplace_back();
    }
    return holders;
}

Result<void> SqliteTransaction::FreeKeys(const std::vector<KeyClaim>& claims) {
    Query query = Prepared(Sql::kFreeKey);
    for (const KeyClaim& claim : claims) {
        KSANA_TRY_VOID(query.Again().Text(claim.tenant).Text(claim.key).Id(claim.run_id).Run());
    }
    return {};
}

Result<void> SqliteTransaction::InsertLedger(const std::vector<model::LedgerEntry>& entries) {
    Query query = Prepared(Sql::kInsertLedger);
    for (const model::LedgerEntry& entry : entries) {
        query.Again();
        entry.seq != 0 ? query.Int(entry.seq) : query.Null();
        KSANA_TRY_VOID(query.Text(entry.job_id)
                           .Enum(entry.range.fate)
                           .Int(entry.range.range.count)
                           .Time(entry.range.range.first)
                           .Time(entry.range.range.last)
                           .Time(entry.recorded_at)
                           .Run());
    }
    return {};
}

Result<void> SqliteTransaction::InsertEvents(const std::vector<model::AuditEvent>& events) {
    Query query = Prepared(Sql::kInsertEvent);
    for (const model::AuditEvent& event : events) {
        query.Again();
        event.seq != 0 ? query.Int(event.seq) : query.Null();
        KSANA_TRY_VOID(query.Time(event.at)
                           .Text(event.tenant)
                           .Text(event.action)
                           .Text(event.user)
                           .Text(event.resource_type)
                           .Text(event.resource_id)
                           .Text(event.old_object)
                           .Text(event.new_object)
                           .Text(event.data)
                           .Text(event.client_ip)
                           .Text(event.method)
                           .Run());
    }
    return {};
}

Result<std::size_t> SqliteTransaction::PurgeEvents(TimePoint before, std::size_t limit) {
    Query query = Prepared(Sql::kPurgeEvents);
    query.Time(before).Int(Limit(limit));
    return Changed(query);
}

Result<std::optional<model::Document>> SqliteTransaction::LockDocument(const std::string& kind,
                                                                       const std::string& key) {
    Query query = Prepared(Sql::kLoadDocument);
    KSANA_TRY(const bool row, query.Text(kind).Text(key).Next());
    if (!row) return std::optional<model::Document>();
    return std::optional(reads::ReadDocument(query));
}

Result<void> SqliteTransaction::PutDocument(const model::Document& document) {
    return Prepared(Sql::kPutDocument)
        .Text(document.kind)
        .Text(document.key)
        .Int(document.version)
        .Text(document.body)
        .Time(document.updated_at)
        .Time(document.expires_at)
        .Run();
}

Result<void> SqliteTransaction::DeleteDocument(const std::string& kind, const std::string& key) {
    return Prepared(Sql::kDeleteDocument).Text(kind).Text(key).Run();
}

Result<std::size_t> SqliteTransaction::PurgeDocuments(const std::string& kind, TimePoint expired_by,
                                                      std::size_t limit) {
    Query query = Prepared(Sql::kPurgeDocuments);
    query.Text(kind).Time(expired_by).Int(Limit(limit));
    return Changed(query);
}

}  // namespace ksana::store_sqlite
