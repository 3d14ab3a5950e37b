#include "ksana/store_sqlite/rows/run_rows.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "ksana/store_sqlite/rows/job_history.hpp"
#include "ksana/store_sqlite/rows/packed_run.hpp"
#include "ksana/store_sqlite/rows/run_tags.hpp"

namespace ksana::store_sqlite {

using model::Attempt;
using model::Run;
using store_kit::RunRefs;

namespace {

Result<void> LoadPayload(ReadSession& session, Run& run) {
    Query query = session.connection.Prepared(Sql::kLoadPayload);
    KSANA_TRY(const bool row, query.Id(run.id).Next());
    if (!row) {
        return Error(Code::kDataLoss,
                     "sqlite: the payload of run " + run.id.ToString() + " is missing");
    }
    query.Into(run.payload);
    return {};
}

// Returns whether a run with this id exists.
Result<bool> IsThere(ReadSession& session, const Uuid& id) {
    return session.connection.Prepared(Sql::kFindRun).Id(id).Next();
}

Result<Uuid> NewestId(WriteSession& session) {
    if (!session.newest) {
        Query query = session.connection.Prepared(Sql::kNewestRun);
        KSANA_TRY(const bool row, query.Next());
        session.newest = row ? query.Id() : Uuid();
    }
    return *session.newest;
}

// Returns for each run whether its id exists, in the table or earlier in the batch. Ids are drawn
// in rising order, so only ids that are not above the newest one have to be looked up.
Result<std::vector<bool>> KnownIds(WriteSession& session, const RunRefs& runs) {
    KSANA_TRY(Uuid newest, NewestId(session));
    std::vector<bool> known(runs.size());
    std::set<Uuid> in_batch;
    std::size_t noted = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const Uuid& id = runs[i]->id;
        if (newest < id) {
            newest = id;
            continue;
        }
        for (; noted < i; ++noted) in_batch.insert(runs[noted]->id);
        KSANA_TRY(const bool there, IsThere(session, id));
        known[i] = there || in_batch.contains(id);
    }
    session.newest = newest;
    return known;
}

Result<std::vector<std::int64_t>> PolicyNumbers(WriteSession& session, const RunRefs& runs) {
    std::vector<std::int64_t> numbers;
    numbers.reserve(runs.size());
    for (const Run* run : runs) {
        KSANA_TRY(const std::int64_t number,
                  session.policy_writer.IdOf(session.connection, run->policy));
        numbers.push_back(number);
    }
    return numbers;
}

Result<std::vector<std::int64_t>> SeqsOf(WriteSession& session, const RunRefs& runs) {
    std::vector<std::int64_t> seqs;
    seqs.reserve(runs.size());
    for (const Run* run : runs) {
        KSANA_TRY(const std::int64_t seq, session.seq_book.SeqOf(session.connection, run->id));
        seqs.push_back(seq);
    }
    return seqs;
}

// Inserts what belongs to the run outside its row, and updates the caches.
Result<void> InsertRest(WriteSession& session, const Run& run, std::int64_t seq) {
    session.running.Written(run);
    // Other runs are read, and so noted, before they change.
    if (run.status.state == model::RunState::kRunning) session.seq_book.Note(run.id, seq);
    if (HasTags(run)) KSANA_TRY_VOID(InsertTags(session, run));
    KSANA_TRY_VOID(ListEndedRun(session, run, seq));
    if (!HasLongPayload(run)) return {};
    return session.connection.Prepared(Sql::kInsertPayload).Id(run.id).Text(run.payload).Run();
}

// Deletes what belongs to the run outside its row, before the row is deleted. A run that ends with
// its deletion was never recorded as ended: the stored row decides.
Result<void> DeleteRest(WriteSession& session, const Run& run) {
    Connection& connection = session.connection;
    if (HasTags(run)) KSANA_TRY_VOID(DeleteTags(session, run));
    if (HasFinalAt(run)) {
        KSANA_TRY(const std::vector<Run> stored, LoadRuns(session, {run.id}));
        for (const Run& row : stored) KSANA_TRY_VOID(UnlistRun(session, row));
    }
    if (!run.unique.key.empty()) {
        KSANA_TRY_VOID(connection.Prepared(Sql::kFreeKey)
                           .Text(run.tenant)
                           .Text(run.unique.key)
                           .Id(run.id)
                           .Run());
    }
    if (HasLongPayload(run)) {
        KSANA_TRY_VOID(connection.Prepared(Sql::kDeletePayload).Id(run.id).Run());
    }
    // The only attempt is in the row, and without a log no earlier ones are kept.
    if (run.policy.run_log == model::RunLog::kNone && run.status.attempt <= 1) return {};
    return connection.Prepared(Sql::kDeleteAttempts).Id(run.id).Run();
}

// A run that was not final has no final_key, and most runs do not get one.
Sql UpdateOf(const RunRefs& runs) {
    const bool keyed =
        std::ranges::any_of(runs, [](const Run* run) { return HasFinalKey(run->status.state); });
    const bool tasks = std::ranges::all_of(runs, &std::string::empty, &Run::job_id);
    if (tasks) return keyed ? Sql::kUpdateTasks : Sql::kUpdateUnkeyedTasks;
    return keyed ? Sql::kUpdateRuns : Sql::kUpdateUnkeyedRuns;
}

Attempt ReadAttempt(Query& query) {
    Attempt attempt;
    attempt.run_id = query.Id();
    attempt.number = static_cast<std::int32_t>(query.Int());
    query.Into(attempt.exec_id);
    attempt.fence = query.Int();
    query.Into(attempt.owner);
    attempt.started_at = query.Time();
    attempt.ended_at = query.OptionalTime();
    attempt.outcome = query.OptionalEnum<model::AttemptOutcome>();
    query.Into(attempt.error);
    query.Into(attempt.detail);
    attempt.not_stopping = query.Bool();
    return attempt;
}

}  // namespace

Result<void> ReadInto(ReadSession& session, Query& query, Run& run) {
    const std::int64_t seq = query.Int();
    run.id = query.Id();
    if (session.seqs != nullptr) session.seqs->Note(run.id, seq);
    query.Into(run.type);
    query.Into(run.job_id);
    run.nominal_at = query.OptionalTime();
    run.kind = query.Enum<model::ActionKind>();
    KSANA_TRY(const FixedPart fixed, UnpackFixed(query.View(), run));
    run.status.ready_at = query.Time();
    KSANA_TRY_VOID(UnpackStatus(query.View(), run));
    KSANA_TRY(run.policy, session.shared.policies.Load(session.connection, fixed.policy));
    if (fixed.payload_outside) KSANA_TRY_VOID(LoadPayload(session, run));
    return {};
}

Result<std::vector<Run>> ReadRuns(ReadSession& session, Query& query) {
    std::vector<Run> runs;
    for (;;) {
        KSANA_TRY(const bool row, query.Next());
        if (!row) return runs;
        KSANA_TRY_VOID(ReadInto(session, query, runs.emplace_back()));
    }
}

Result<std::vector<Run>> ReadRange(ReadSession& session, const PlaceRange& range,
                                   std::size_t limit) {
    Query query = session.connection.Prepared(Sql::kFindInRange);
    query.Range(range).Int(static_cast<std::int64_t>(limit));
    return ReadRuns(session, query);
}

Result<std::optional<Run>> ReadOneRun(ReadSession& session, Query& query) {
    KSANA_TRY(const bool row, query.Next());
    if (!row) return std::optional<Run>();
    std::optional<Run> run(std::in_place);
    KSANA_TRY_VOID(ReadInto(session, query, *run));
    return run;
}

Result<std::vector<Run>> LoadRuns(ReadSession& session, const std::vector<Uuid>& ids) {
    std::vector<Run> runs;
    runs.reserve(ids.size());
    Query query = session.connection.Prepared(Sql::kLoadRun);
    for (const Uuid& id : ids) {
        KSANA_TRY(const bool row, query.Again().Id(id).Next());
        if (!row) continue;
        KSANA_TRY_VOID(ReadInto(session, query, runs.emplace_back()));
    }
    return runs;
}

Result<std::vector<Attempt>> LoadAttempts(ReadSession& session, const std::vector<Uuid>& ids) {
    std::vector<Uuid> sorted = ids;
    std::ranges::sort(sorted);
    std::vector<Attempt> attempts;
    Query query = session.connection.Prepared(Sql::kLoadAttempts);
    for (const Uuid& id : sorted) {
        query.Again().Id(id);
        for (;;) {
            KSANA_TRY(const bool row, query.Next());
            if (!row) break;
            attempts.push_back(ReadAttempt(query));
        }
    }
    return attempts;
}

// Of the runs with new ids, the insert skips only those whose fire has a run already.
Result<std::vector<bool>> InsertRunRows(WriteSession& session, const RunRefs& runs) {
    KSANA_TRY(const std::vector<bool> known, KnownIds(session, runs));
    RunRefs fresh;
    fresh.reserve(runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (!known[i]) fresh.push_back(runs[i]);
    }
    KSANA_TRY(const auto policies, PolicyNumbers(session, fresh));
    KSANA_TRY(std::int64_t seq, session.seq_book.Draw(session.connection, fresh.size()));
    std::vector<std::int64_t> seqs(fresh.size());
    std::iota(seqs.begin(), seqs.end(), seq);
    session.connection.batch().Fill(fresh, seqs, policies);
    KSANA_TRY_VOID(session.connection.Prepared(Sql::kInsertRuns).Run());
    const bool all = session.connection.last_changes() == static_cast<std::int64_t>(fresh.size());
    std::vector<bool> inserted(runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (known[i]) continue;
        inserted[i] = true;
        if (!all) {
            KSANA_TRY(inserted[i], IsThere(session, runs[i]->id));
        }
        if (inserted[i]) KSANA_TRY_VOID(InsertRest(session, *runs[i], seq));
        ++seq;
    }
    return inserted;
}

Result<void> UpdateRunRows(WriteSession& session, const RunRefs& runs) {
    KSANA_TRY(const std::vector<std::int64_t> seqs, SeqsOf(session, runs));
    for (const Run* run : runs) {
        if (HasTags(*run)) KSANA_TRY_VOID(MoveTags(session, *run));
    }
    session.connection.batch().FillStatus(runs, seqs);
    KSANA_TRY_VOID(session.connection.Prepared(UpdateOf(runs)).Run());
    KSANA_TRY_VOID(NoteFinalRuns(session, runs, seqs));
    for (const Run* run : runs) {
        session.running.Written(*run);
        if (model::IsFinal(run->status.state)) session.seq_book.Forget(run->id);
    }
    return {};
}

Result<void> DeleteRunRows(WriteSession& session, const RunRefs& runs) {
    KSANA_TRY(const std::vector<std::int64_t> seqs, SeqsOf(session, runs));
    for (const Run* run : runs) {
        KSANA_TRY_VOID(DeleteRest(session, *run));
        session.running.Deleted(run->id);
        session.seq_book.Forget(run->id);
    }
    session.connection.batch().FillSeqs(runs, seqs);
    return session.connection.Prepared(Sql::kDeleteRuns).Run();
}

Result<void> InsertAttemptRows(ReadSession& session, const std::vector<Attempt>& attempts) {
    Query query = session.connection.Prepared(Sql::kInsertAttempt);
    for (const Attempt& attempt : attempts) {
        KSANA_TRY_VOID(query.Again()
                           .Id(attempt.run_id)
                           .Int(attempt.number)
                           .Text(attempt.exec_id)
                           .Int(attempt.fence)
                           .Text(attempt.owner)
                           .Time(attempt.started_at)
                           .Time(attempt.ended_at)
                           .Enum(attempt.outcome)
                           .Text(attempt.error)
                           .Text(attempt.detail)
                           .Int(attempt.not_stopping ? 1 : 0)
                           .Run());
    }
    return {};
}

}  // namespace ksana::store_sqlite
