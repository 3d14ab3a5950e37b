#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "ksana/store_postgres/rows/claim_query.hpp"
#include "ksana/store_postgres/rows/postgres_transaction.hpp"

// Locks of runs, in the orders of the queue.

namespace ksana::store_postgres {
namespace {

using model::Run;
using store_kit::OverlapCounts;

std::string SelectRuns(std::string_view rest) {
    return fmt::format("SELECT {}, r.ctid FROM ksana.runs r {}", RunColumnList("r."), rest);
}

// A locking statement in two forms.
struct LockSql {
    std::string wait;
    std::string no_wait;

    explicit LockSql(std::string sql) : wait(std::move(sql)), no_wait(wait + " NOWAIT") {}
    const std::string& Of(LockWait patience) const {
        return patience == LockWait::kWait ? wait : no_wait;
    }
};

// model::IsUnderWay
constexpr std::string_view kUnderWay = "attempt > 0 AND state IN (0, 1, 2)";

const LockSql& LockById() {
    static const LockSql kSql(SelectRuns("WHERE id = ANY($1::uuid[]) ORDER BY id FOR UPDATE"));
    return kSql;
}

const LockSql& LockJobsById() {
    static const LockSql kSql(
        "SELECT FROM ksana.job_state WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE");
    return kSql;
}

// The job of a run never changes, so it may be read before the lock.
const LockSql& LockJobsOfRuns() {
    static const LockSql kSql(
        "SELECT id FROM ksana.job_state WHERE id = ANY(ARRAY(SELECT job_id FROM ksana.runs "
        "WHERE id = ANY($1::uuid[]) AND job_id <> '')) ORDER BY id FOR UPDATE");
    return kSql;
}

const std::string& FinishedById() {
    static const std::string kSql = fmt::format(
        "SELECT {} FROM ksana.finished_runs WHERE id = ANY($1::uuid[])", RunColumnList(""));
    return kSql;
}

constexpr std::string_view kMakeDue =
    "UPDATE ksana.runs SET state = 1 WHERE id = ANY(ARRAY(SELECT id FROM ksana.runs "
    "WHERE state = 0 AND ready_at <= $1::bigint ORDER BY ready_at, id LIMIT $2::bigint "
    "FOR UPDATE SKIP LOCKED))";

const std::string& Expired() {
    static const std::string kSql = SelectRuns(
        "WHERE state = 2 AND expires_at <= $1::bigint ORDER BY expires_at, id LIMIT $2::bigint "
        "FOR UPDATE SKIP LOCKED");
    return kSql;
}

const std::string& Owned() {
    static const std::string kSql = SelectRuns(
        "WHERE state = 2 AND owner = ANY($1::text[]) ORDER BY expires_at, id LIMIT $2::bigint "
        "FOR UPDATE SKIP LOCKED");
    return kSql;
}

const LockSql& Gated() {
    static const LockSql kSql(
        SelectRuns(fmt::format("WHERE job_id = $1::text AND job_id <> '' AND (blocked OR ({})) "
                               "ORDER BY id FOR UPDATE",
                               kUnderWay)));
    return kSql;
}

const LockSql& FirstBlocked() {
    static const LockSql kSql(
        SelectRuns("WHERE job_id = $1::text AND job_id <> '' AND blocked AND expires_at IS NULL "
                   "ORDER BY ready_at, id LIMIT 1 "
                   "FOR UPDATE"));
    return kSql;
}

const std::string& Stray() {
    static const std::string kSql = SelectRuns(
        "WHERE blocked AND expires_at IS NULL AND NOT EXISTS (SELECT FROM ksana.runs u WHERE "
        "u.job_id = r.job_id "
        "AND u.job_id <> '' AND u.attempt > 0 AND u.state IN (0, 1, 2)) "
        "ORDER BY ready_at, id LIMIT $1::bigint FOR UPDATE OF r SKIP LOCKED");
    return kSql;
}

const std::string& Awaiting() {
    static const std::string kSql = SelectRuns(
        "WHERE blocked AND expires_at <= $1::bigint ORDER BY expires_at, ready_at, id "
        "LIMIT $2::bigint FOR UPDATE SKIP LOCKED");
    return kSql;
}

const LockSql& Unstarted() {
    static const LockSql kSql(
        SelectRuns("WHERE job_id = $1::text AND job_id <> '' AND state IN (0, 1) AND attempt = 0 "
                   "ORDER BY id LIMIT $2::bigint FOR UPDATE"));
    return kSql;
}

// Runs after the locks, in a statement of its own, to see the changes that the locks waited for.
const std::string& CountGates() {
    static const std::string kSql = fmt::format(
        "SELECT job_id, count(*) FILTER (WHERE {}), count(*) FILTER (WHERE blocked), "
        "count(*) FILTER (WHERE state IN (0, 1) AND attempt = 0 AND NOT blocked) "
        "FROM ksana.runs WHERE job_id = ANY($1::text[]) AND job_id <> '' GROUP BY job_id",
        kUnderWay);
    return kSql;
}

std::int64_t Limit(std::size_t limit) { return static_cast<std::int64_t>(limit); }

}  // namespace

PostgresTransaction::PostgresTransaction(Session& session, const Books& books, bool look)
    : session_(session),
      policies_(books.policies),
      wanted_(books.wanted),
      jobs_(books.jobs),
      held_(books.held),
      known_(books.known),
      look_(look),
      locks_(books.first) {
    if (books.first.empty()) return;
    session_.DeferFirst(LockJobsById().wait, Params().Array(books.first));
}

// Locks the jobs before all other deferred statements.
void PostgresTransaction::LockJobsOf(const std::set<std::string>& ids) {
    if (ids.empty()) return;
    session_.DeferFirst(LockJobsById().Of(locks_.ForJobs(ids)), Params().Array(ids));
    for (const std::string& id : ids) locks_.NoteHeld(id);
}

// The end of a run moves it to `finished_runs`. A run that is not found in `runs` is looked up
// there, in a later statement, which sees a move that the lock has waited for.
Result<std::vector<Run>> PostgresTransaction::LockRuns(const std::vector<Uuid>& ids) {
    if (ids.empty()) return std::vector<Run>();
    std::set<Uuid> missing(ids.begin(), ids.end());
    if (auto known = TakeKnown(missing)) return *std::move(known);
    std::vector<Statement> statements;
    statements.push_back({LockJobsOfRuns().Of(locks_.NextJobs()), Params().Array(missing), {}});
    statements.push_back({LockById().Of(locks_.ForRunsById()), Params().Array(missing), {}});
    KSANA_TRY(const auto answers, session_.QueryAll(std::move(statements)));
    for (std::size_t i = 0; i < answers[0].size(); ++i) {
        locks_.NoteHeld(RowReader(answers[0], i).Text());
    }
    KSANA_TRY(auto runs, ReadLocked(answers[1]));
    if (runs.size() == missing.size()) return runs;
    for (const Run& run : runs) missing.erase(run.id);
    KSANA_TRY(auto finished, QueryRuns(FinishedById(), Params().Array(missing)));
    std::move(finished.begin(), finished.end(), std::back_inserter(runs));
    return runs;
}

// Returns cached runs of this process instead of locking rows; none if one is not cached. Other
// nodes have probably not changed them; if one has, the write over its version fails (unsure_).
std::optional<std::vector<Run>> PostgresTransaction::TakeKnown(const std::set<Uuid>& ids) {
    if (look_) return std::nullopt;
    auto known = known_.Take(ids);
    if (!known) return std::nullopt;
    std::set<std::string> jobs;
    std::vector<Run> runs;
    runs.reserve(known->size());
    unsure_.reserve(known->size());
    for (auto& node : *known) {
        KnownRun& one = node.mapped();
        if (!one.run.job_id.empty()) jobs.insert(one.run.job_id);
        unsure_[one.run.id] = one.version;
        runs.push_back(std::move(one.run));
    }
    LockJobsOf(jobs);
    locks_.ForRunsById();
    return runs;
}

Result<void> PostgresTransaction::MakeDue(TimePoint now, std::size_t limit) {
    places_.clear();  // MakeDue may move some of these rows
    locks_.NoteOutOfTurn();
    session_.Defer(kMakeDue, Params().Add(Micros(now)).Add(Limit(limit)));
    return {};
}

Result<std::vector<Run>> PostgresTransaction::LockReady(const store::ClaimFilter& filter,
                                                        TimePoint now, std::size_t limit) {
    locks_.NoteOutOfTurn();
    Statement statement = ClaimQuery(filter, now, limit, held_.OfAll());
    KSANA_TRY(const Rows rows,
              session_.QueryBuilt(std::move(statement.owned), std::move(statement.params)));
    KSANA_TRY(auto runs, ReadLocked(rows));
    std::vector<Uuid> ids;
    ids.reserve(runs.size());
    for (const Run& run : runs) ids.push_back(run.id);
    held_.Add(std::move(ids));
    return runs;
}

Result<std::vector<Run>> PostgresTransaction::LockExpired(TimePoint now, std::size_t limit) {
    locks_.NoteOutOfTurn();
    return QueryLocked(Expired(), Params().Add(Micros(now)).Add(Limit(limit)));
}

Result<std::vector<Run>> PostgresTransaction::LockOwned(const std::vector<std::string>& owners,
                                                        std::size_t limit) {
    locks_.NoteOutOfTurn();
    return QueryLocked(Owned(), Params().Array(owners).Add(Limit(limit)));
}

Result<std::vector<OverlapCounts>> PostgresTransaction::LockOverlapCounts(
    const std::vector<std::string>& job_ids) {
    std::vector<OverlapCounts> gates;
    if (job_ids.empty()) return gates;
    std::vector<Statement> statements;
    statements.push_back({LockJobsById().Of(locks_.ForJobs(job_ids)), Params().Array(job_ids), {}});
    statements.push_back({CountGates(), Params().Array(job_ids), {}});
    KSANA_TRY(const auto answers, session_.QueryAll(std::move(statements)));
    std::unordered_map<std::string, OverlapCounts> counted;
    for (std::size_t i = 0; i < answers[1].size(); ++i) {
        RowReader row(answers[1], i);
        std::string job_id = row.Text();
        const int under_way = static_cast<int>(row.Int64());
        const int blocked = static_cast<int>(row.Int64());
        const int waiting = static_cast<int>(row.Int64());
        counted.emplace(job_id, OverlapCounts{job_id, under_way, blocked, waiting});
    }
    for (const std::string& job_id : job_ids) {
        const auto found = counted.find(job_id);
        gates.push_back(found == counted.end() ? OverlapCounts{job_id, 0, 0, 0} : found->second);
    }
    return gates;
}

Result<std::vector<Run>> PostgresTransaction::LockGated(const std::string& job_id) {
    return QueryLocked(Gated().Of(locks_.ForRuns()), Params().Add(job_id));
}

Result<std::optional<Run>> PostgresTransaction::LockFirstBlocked(const std::string& job_id) {
    KSANA_TRY(auto runs, QueryLocked(FirstBlocked().Of(locks_.ForRuns()), Params().Add(job_id)));
    if (runs.empty()) return std::optional<Run>();
    return std::optional(std::move(runs.front()));
}

Result<std::vector<Run>> PostgresTransaction::LockWronglyBlocked(std::size_t limit) {
    locks_.NoteOutOfTurn();
    return QueryLocked(Stray(), Params().Add(Limit(limit)));
}

Result<std::vector<Run>> PostgresTransaction::LockAwaiting(TimePoint now, std::size_t limit) {
    locks_.NoteOutOfTurn();
    return QueryLocked(Awaiting(), Params().Add(Micros(now)).Add(Limit(limit)));
}

Result<std::vector<Run>> PostgresTransaction::LockUnstarted(const std::string& job_id,
                                                            std::size_t limit) {
    return QueryLocked(Unstarted().Of(locks_.ForRuns()), Params().Add(job_id).Add(Limit(limit)));
}

}  // namespace ksana::store_postgres
