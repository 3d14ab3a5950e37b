#include <fmt/core.h>

#include <array>
#include <unordered_set>
#include <utility>

#include "ksana/store_postgres/rows/postgres_transaction.hpp"
#include "ksana/store_postgres/rows/run_writes.hpp"

// Reading, inserting, updating and deleting runs.

namespace ksana::store_postgres {
namespace {

using model::Attempt;
using model::Run;

using Ids = std::unordered_set<Uuid, UuidHash>;

const std::string& RunsById() {
    static const std::string kSql = fmt::format(
        "SELECT {0} FROM ksana.runs WHERE id = ANY($1::uuid[]) UNION ALL "
        "SELECT {0} FROM ksana.finished_runs WHERE id = ANY($1::uuid[])",
        RunColumnList(""));
    return kSql;
}

const std::string& RunOfFire() {
    static const std::string kSql = fmt::format(
        "SELECT {0} FROM ksana.runs WHERE job_id = $1::text AND job_id <> '' "
        "AND nominal_at = $2::bigint UNION ALL "
        "SELECT {0} FROM ksana.finished_runs WHERE job_id = $1::text AND job_id <> '' "
        "AND nominal_at = $2::bigint LIMIT 1",
        RunColumnList(""));
    return kSql;
}

constexpr std::string_view kAttempts =
    "SELECT run_id, number, exec_id, fence, owner, started_at, ended_at, outcome, error, detail, "
    "not_stopping FROM ksana.attempts WHERE run_id = ANY($1::uuid[]) ORDER BY run_id, number";

constexpr std::string_view kInsertAttempts =
    "INSERT INTO ksana.attempts (run_id, number, exec_id, fence, owner, started_at, ended_at, "
    "outcome, error, detail, not_stopping) SELECT * FROM unnest($1::uuid[], $2::integer[], "
    "$3::text[], $4::bigint[], $5::text[], $6::bigint[], $7::bigint[], $8::smallint[], "
    "$9::text[], $10::text[], $11::boolean[])";

// Deletes the keys that the runs still hold, too: nothing else would ever free them.
constexpr std::string_view kDeleteRuns =
    "WITH a AS (DELETE FROM ksana.runs WHERE id = ANY($1::uuid[]) "
    "RETURNING id, tenant, unique_key), "
    "b AS (DELETE FROM ksana.finished_runs WHERE id = ANY($1::uuid[]) "
    "RETURNING id, tenant, unique_key), "
    "k AS (DELETE FROM ksana.run_keys k USING (SELECT * FROM a UNION ALL SELECT * FROM b) gone "
    "WHERE gone.unique_key <> '' AND k.tenant = gone.tenant AND k.key = gone.unique_key "
    "AND k.run_id = gone.id) "
    "DELETE FROM ksana.attempts WHERE run_id = ANY($1::uuid[])";

std::string PurgeRunsSql(model::RunStates states) {
    return fmt::format(
        "WITH gone AS (DELETE FROM ksana.finished_runs WHERE id = ANY(ARRAY("
        "SELECT id FROM ksana.finished_runs WHERE finished_at < $1::bigint AND {} "
        "ORDER BY finished_at, id LIMIT $2::bigint FOR UPDATE SKIP LOCKED)) "
        "RETURNING id, tenant, unique_key), "
        "a AS (DELETE FROM ksana.attempts WHERE run_id = ANY(ARRAY(SELECT id FROM gone))), "
        "k AS (DELETE FROM ksana.run_keys k USING gone WHERE gone.unique_key <> '' "
        "AND k.tenant = gone.tenant AND k.key = gone.unique_key AND k.run_id = gone.id) "
        "SELECT count(*) FROM gone",
        StatesIn(states));
}

Attempt ReadAttempt(RowReader row) {
    Attempt attempt;
    attempt.run_id = row.Id();
    attempt.number = row.Int32();
    attempt.exec_id = row.Text();
    attempt.fence = row.Int64();
    attempt.owner = row.Text();
    attempt.started_at = row.Time();
    attempt.ended_at = row.MaybeTime();
    attempt.outcome = row.MaybeEnum<model::AttemptOutcome>();
    attempt.error = row.Text();
    attempt.detail = row.Text();
    attempt.not_stopping = row.Bool();
    return attempt;
}

}  // namespace

Result<std::vector<Run>> PostgresTransaction::ReadRuns(const Rows& rows) {
    std::vector<Run> runs(rows.size());
    std::vector<std::int32_t> policy_ids(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        RowReader row(rows, i);
        KSANA_TRY(policy_ids[i], ReadRun(row, runs[i]));
    }
    KSANA_TRY(auto policies, policies_.Find(policy_ids, session_));
    for (std::size_t i = 0; i < runs.size(); ++i) runs[i].policy = std::move(policies[i]);
    return runs;
}

Result<std::vector<Run>> PostgresTransaction::ReadLocked(const Rows& rows) {
    KSANA_TRY(auto runs, ReadRuns(rows));
    for (std::size_t i = 0; i < runs.size(); ++i) {
        places_[runs[i].id] = RowReader(rows, i, kReadColumns).Place();
    }
    return runs;
}

Result<std::vector<Run>> PostgresTransaction::QueryLocked(std::string_view sql, Params params) {
    KSANA_TRY(const Rows rows, session_.Query(sql, std::move(params)));
    return ReadLocked(rows);
}

// Returns and forgets the ctid of a row that is about to change: the change moves the row.
std::optional<RowPlace> PostgresTransaction::TakePlace(const Uuid& id) {
    const auto found = places_.find(id);
    if (found == places_.end()) return std::nullopt;
    const RowPlace place = found->second;
    places_.erase(found);
    return place;
}

Result<std::vector<Run>> PostgresTransaction::QueryRuns(std::string_view sql, Params params) {
    KSANA_TRY(const Rows rows, session_.Query(sql, std::move(params)));
    return ReadRuns(rows);
}

Result<void> PostgresTransaction::Note(const store_kit::RunRefs& runs, NewRunRows& rows) {
    for (const Run* run : runs) {
        if (const auto id = policies_.IdOf(run->policy)) {
            rows.Add({run, *id});
        } else {
            wanted_.insert(run->policy);
        }
    }
    if (wanted_.empty()) return {};
    return UnknownPolicies();
}

Result<std::vector<Run>> PostgresTransaction::Runs(const std::vector<Uuid>& ids) {
    if (ids.empty()) return std::vector<Run>();
    return QueryRuns(RunsById(), Params().Array(ids));
}

Result<std::optional<Run>> PostgresTransaction::FindFire(const std::string& job_id,
                                                         TimePoint nominal) {
    KSANA_TRY(auto runs, QueryRuns(RunOfFire(), Params().Add(job_id).Add(Micros(nominal))));
    if (runs.empty()) return std::optional<Run>();
    return std::optional(std::move(runs.front()));
}

Result<std::vector<Attempt>> PostgresTransaction::Attempts(const std::vector<Uuid>& run_ids) {
    if (run_ids.empty()) return std::vector<Attempt>();
    KSANA_TRY(const Rows rows, session_.Query(kAttempts, Params().Array(run_ids)));
    std::vector<Attempt> attempts;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        attempts.push_back(ReadAttempt(RowReader(rows, i)));
    }
    return attempts;
}

Result<std::vector<bool>> PostgresTransaction::InsertRuns(const store_kit::RunRefs& runs) {
    NewRunRows rows;
    KSANA_TRY_VOID(Note(runs, rows));
    return InsertRows(rows);
}

std::vector<Statement> PostgresTransaction::InsertStatements(const NewRunRows& rows) const {
    std::vector<Statement> statements;
    if (!rows.open.empty()) statements.push_back(InsertRunsStatement(rows.open, {false, look_}));
    if (!rows.final.empty()) statements.push_back(InsertRunsStatement(rows.final, {true, look_}));
    return statements;
}

// An id that occurs twice in the batch is inserted once, and the first occurrence is reported as
// inserted.
Result<std::vector<bool>> PostgresTransaction::InsertRows(const NewRunRows& rows) {
    std::vector<Statement> statements = InsertStatements(rows);
    if (statements.empty()) return std::vector<bool>();
    if (!rows.fires.empty()) session_.DeferStatement(rows.fires.Lock());
    KSANA_TRY(const auto answers, session_.QueryAll(std::move(statements)));
    if (!look_) return std::vector<bool>(rows.ids.size(), true);
    Ids inserted;
    for (const Rows& answer : answers) {
        for (std::size_t i = 0; i < answer.size(); ++i) inserted.insert(RowReader(answer, i).Id());
    }
    std::vector<bool> outcomes;
    outcomes.reserve(rows.ids.size());
    for (const Uuid& id : rows.ids) outcomes.push_back(inserted.erase(id) != 0);
    return outcomes;
}

void PostgresTransaction::InsertAtCommit(const NewRunRows& rows) {
    if (!rows.fires.empty()) session_.DeferStatement(rows.fires.Lock());
    for (Statement& statement : InsertStatements(rows)) {
        session_.DeferStatement(std::move(statement));
    }
}

// Splits the runs by whether they end, and by whether their row is locked or only known from the
// cache.
Result<void> PostgresTransaction::UpdateRuns(const store_kit::RunRefs& runs) {
    std::array<RunBatch, 2> open = {RunBatch(RunBatch::Kind::kStatus),
                                    RunBatch(RunBatch::Kind::kStatus)};
    std::array<RunBatch, 2> final = open;
    FireJobs ended;
    for (const Run* run : runs) {
        const auto place = TakePlace(run->id);
        const auto known = unsure_.extract(run->id);
        const bool ends = model::IsFinal(run->status.state);
        if (ends) ended.Add(*run);
        started_.erase(run->id);
        if (place && KnownRuns::IsWorthIt(*run)) started_[run->id].run = *run;
        (ends ? final : open)[known ? 1 : 0].Add(
            {run, 0, place ? &*place : nullptr, known ? &known.mapped() : nullptr});
    }
    if (!ended.empty()) session_.DeferStatement(ended.Lock());
    for (const RunBatch& batch : open) WriteBatch(batch, false);
    for (const RunBatch& batch : final) WriteBatch(batch, true);
    return {};
}

void PostgresTransaction::WriteBatch(const RunBatch& batch, bool final) {
    if (batch.empty()) return;
    if (batch.versioned()) {
        return session_.DeferExpecting(
            final ? FinishRunsStatement(batch) : UpdateRunsStatement(batch), batch.size());
    }
    if (final) return session_.DeferStatement(FinishRunsStatement(batch));
    if (started_.empty()) return session_.DeferStatement(UpdateRunsStatement(batch));
    session_.DeferAnswered(UpdateRunsStatement(batch, true));
}

// The last answer about a run counts: earlier versions of the row are gone.
void PostgresTransaction::Remember() {
    if (started_.empty()) return;
    for (const Rows& rows : session_.kept()) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            RowReader row(rows, i);
            const auto found = started_.find(row.Id());
            if (found == started_.end()) continue;
            found->second.version.place = row.Place();
            found->second.version.writer = row.Int32();
        }
    }
    std::erase_if(started_, [](const auto& entry) { return entry.second.version.writer == 0; });
    known_.Put(std::exchange(started_, {}));
}

// A cached run whose row is deleted has nothing outside its row (KnownRuns::IsWorthIt).
Result<void> PostgresTransaction::DeleteRuns(const store_kit::RunRefs& runs) {
    RunBatch known(RunBatch::Kind::kId);
    std::vector<Uuid> others;
    for (const Run* run : runs) {
        TakePlace(run->id);
        started_.erase(run->id);
        if (const auto found = unsure_.extract(run->id)) {
            known.Add({run, 0, nullptr, &found.mapped()});
        } else {
            others.push_back(run->id);
        }
    }
    if (!known.empty()) session_.DeferExpecting(DeleteRunsStatement(known), known.size());
    if (!others.empty()) session_.Defer(kDeleteRuns, Params().Array(others));
    return {};
}

Result<void> PostgresTransaction::InsertAttempts(const std::vector<Attempt>& attempts) {
    if (attempts.empty()) return {};
    const auto member = [](auto get) {
        return [get](const Attempt& attempt) -> decltype(auto) { return attempt.*get; };
    };
    session_.Defer(kInsertAttempts,
                   Params()
                       .Array(attempts, member(&Attempt::run_id))
                       .Array(attempts, member(&Attempt::number))
                       .Array(attempts, member(&Attempt::exec_id))
                       .Array(attempts, member(&Attempt::fence))
                       .Array(attempts, member(&Attempt::owner))
                       .Array(attempts, [](const Attempt& a) { return Micros(a.started_at); })
                       .Array(attempts, [](const Attempt& a) { return Micros(a.ended_at); })
                       .Array(attempts, [](const Attempt& a) { return Small(a.outcome); })
                       .Array(attempts, member(&Attempt::error))
                       .Array(attempts, member(&Attempt::detail))
                       .Array(attempts, member(&Attempt::not_stopping)));
    return {};
}

Result<std::size_t> PostgresTransaction::PurgeRuns(const store::PurgeParams& params) {
    const auto states = static_cast<model::RunStates>(params.states & model::kAllStates &
                                                      ~model::kUnfinishedStates);
    if (states == 0) return std::size_t{0};
    KSANA_TRY(const Rows rows,
              session_.QueryBuilt(PurgeRunsSql(states),
                                  Params()
                                      .Add(Micros(params.finished_before))
                                      .Add(static_cast<std::int64_t>(params.limit))));
    return static_cast<std::size_t>(RowReader(rows, 0).Int64());
}

}  // namespace ksana::store_postgres
