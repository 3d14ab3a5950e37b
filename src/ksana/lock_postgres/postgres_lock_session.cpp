#include "ksana/lock_postgres/postgres_lock_session.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "ksana/base/ids/hash.hpp"

namespace ksana::lock_postgres {
namespace {

using libpq::Deadline;
using libpq::Fault;
using libpq::FaultKind;
using libpq::RowReader;
using libpq::Rows;
using libpq::Statement;
using lock::LockRequest;
using lock::TryAnswer;

constexpr int kOldestVersion = 140000;  // idle_session_timeout
// After this the server ends a session that holds no lock.
constexpr std::int64_t kFreeMilliseconds = 600'000;

// The isolation matters: ON CONFLICT must see the newest row. The server notices by itself that a
// client has gone whose end of the connection it was not told.
constexpr std::string_view kSetUp =
    "SELECT set_config('default_transaction_isolation', 'read committed', false), "
    "set_config('default_transaction_read_only', 'off', false), "
    "set_config('statement_timeout', $1::text, false), "
    "set_config('idle_in_transaction_session_timeout', $1::text, false), "
    "set_config('idle_session_timeout', $2::text, false), "
    "set_config('tcp_keepalives_idle', '10', false), "
    "set_config('tcp_keepalives_interval', '5', false), "
    "set_config('tcp_keepalives_count', '3', false), "
    "set_config('tcp_user_timeout', '15000', false)";
constexpr std::string_view kLook =
    "SELECT pg_backend_pid(), to_regclass('ksana.lock_state') IS NOT NULL, "
    "to_regnamespace($1::text) IS NOT NULL";

// One creator at a time: IF NOT EXISTS alone fails if two come at once.
constexpr std::string_view kCreateLock =
    "SELECT pg_advisory_xact_lock(hashtextextended('ksana.lock_state', 0))";
constexpr std::string_view kCreateTable =
    "CREATE TABLE IF NOT EXISTS ksana.lock_state (key text PRIMARY KEY, fence bigint NOT NULL, "
    "stamp bigint, token text, pid integer, taken_at timestamptz NOT NULL)";

constexpr std::string_view kSetTtl =
    "SELECT set_config('idle_session_timeout', $1::text, false), pg_backend_pid()";
// A stamp that was used is refused before the lock is taken, so that nobody finds it taken for a
// moment. The row is checked again when it is written.
constexpr std::string_view kAsk =
    "SELECT CASE WHEN s.stamp >= $3::bigint THEN false "
    "ELSE pg_try_advisory_lock($1::bigint) END, s.stamp, coalesce(s.token = $4::text, false) "
    "FROM (SELECT max(stamp) AS stamp, max(token) AS token FROM ksana.lock_state "
    "WHERE key = $2::text) AS s";
// The fence is at least the time, so that it grows also if the table was lost.
constexpr std::string_view kRecord =
    "INSERT INTO ksana.lock_state AS s (key, fence, stamp, token, pid, taken_at) "
    "VALUES ($1::text, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, $2::bigint, "
    "$3::text, pg_backend_pid(), clock_timestamp()) "
    "ON CONFLICT (key) DO UPDATE SET fence = greatest(s.fence + 1, excluded.fence), "
    "stamp = coalesce(excluded.stamp, s.stamp), token = excluded.token, pid = excluded.pid, "
    "taken_at = excluded.taken_at "
    "WHERE s.stamp IS NULL OR excluded.stamp IS NULL OR s.stamp < excluded.stamp "
    "RETURNING fence, stamp";
constexpr std::string_view kLastStamp =
    "SELECT max(stamp) FROM ksana.lock_state WHERE key = $1::text";
constexpr std::string_view kUnlock = "SELECT pg_advisory_unlock($1::bigint)";
constexpr std::string_view kClear =
    "UPDATE ksana.lock_state SET token = NULL, pid = NULL WHERE key = $1::text AND fence = "
    "$2::bigint";
// Ends the session that holds the lock now, if the row says that it is this token's.
constexpr std::string_view kEndHolder =
    "SELECT pg_terminate_backend(l.pid, $5::bigint) FROM pg_locks AS l "
    "JOIN ksana.lock_state AS s ON s.pid = l.pid "
    "WHERE s.key = $2::text AND s.token = $3::text AND ($4::bigint IS NULL OR s.fence = "
    "$4::bigint) AND l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 "
    "AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
    "AND l.classid::bigint = ($1::bigint >> 32) & 4294967295 "
    "AND l.objid::bigint = $1::bigint & 4294967295";
constexpr std::string_view kPrune =
    "DELETE FROM ksana.lock_state WHERE taken_at < clock_timestamp() - interval '7 days' AND (pid "
    "IS NULL OR pid NOT IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND pid IS NOT "
    "NULL))";

constexpr std::string_view kNoTable = "42P01";
constexpr std::string_view kNoRight = "42501";

std::int64_t NumberOf(const std::string& key) {
    return static_cast<std::int64_t>(HashText("ksana lock " + key));
}

// The TTL in whole milliseconds as the server's setting takes it; 0 would mean none.
std::int64_t MillisecondsOf(Duration ttl) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    return std::clamp<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(ttl).count(), 1,
                                    kMost);
}

Duration Applied(Duration ttl) {
    return std::min<Duration>(ttl, std::chrono::milliseconds(MillisecondsOf(ttl)));
}

Statement Make(std::string_view sql, libpq::Params params = {}) {
    return {sql, std::move(params), {}};
}

Statement SetTtl(std::int64_t milliseconds) {
    return Make(kSetTtl, libpq::Params().Add(std::string_view(std::to_string(milliseconds))));
}

Error ErrorOf(const Fault& fault) {
    Error error = fault.error;
    const bool gone = fault.kind == FaultKind::kLost || fault.sqlstate == kNoTable;
    if (gone) error.code = Code::kLeaseLost;
    if (error.code == Code::kDeadlineExceeded) error.code = Code::kUnavailable;
    return error;
}

// For what failed after the request may have had an effect: it must not be made again unseen.
Error Unclear(Error error) {
    if (error.code == Code::kLeaseLost) error.code = Code::kUnavailable;
    return error;
}

}  // namespace

Result<std::unique_ptr<PostgresLockSession>> PostgresLockSession::Open(
    const PostgresLockOptions& options) {
    const Deadline deadline(options.clock, options.timeout);
    // Nothing is prepared, as a pooler could give the statements to another session.
    auto made = libpq::Connection::Open({.url = options.url,
                                         .schema = options.schema,
                                         .prepare = false,
                                         .statement_timeout = options.timeout},
                                        deadline);
    if (const auto* fault = std::get_if<Fault>(&made)) return Unclear(ErrorOf(*fault));
    auto session = std::make_unique<PostgresLockSession>(std::move(std::get<0>(made)), options);
    if (auto set = session->SetUp(options, deadline); !set) return Unclear(std::move(set).error());
    return session;
}

Result<void> PostgresLockSession::SetUp(const PostgresLockOptions& options,
                                        const Deadline& deadline) {
    if (connection_->ServerVersion() < kOldestVersion) {
        return Error(Code::kUnimplemented,
                     "locks need PostgreSQL 14 or later: earlier servers do not end a session "
                     "that is silent");
    }
    const auto timeout = std::to_string(MillisecondsOf(options.timeout));
    const auto free = std::to_string(kFreeMilliseconds);
    KSANA_TRY(const auto look,
              Run({Make(kLook, libpq::Params().Add(std::string_view(options.schema)))}, deadline));
    RowReader row(look.front(), 0);
    if (row.Int32() != connection_->BackendPid()) {
        return Error(Code::kUnimplemented,
                     "locks need a connection to PostgreSQL itself: the URL leads to a pooler "
                     "(such as PgBouncer), which gives sessions to others");
    }
    KSANA_TRY_VOID(Run(
        {Make(kSetUp, libpq::Params().Add(std::string_view(timeout)).Add(std::string_view(free)))},
        deadline));
    if (row.Bool()) return {};
    const bool has_schema = row.Bool();
    return CreateTable(has_schema ? "" : options.schema, deadline);
}

// Creates the schema too, if one is named. A user without the right to create schemas can use one
// that exists.
Result<void> PostgresLockSession::CreateTable(const std::string& schema, const Deadline& deadline) {
    std::vector<Statement> statements = {Make("BEGIN"), Make(kCreateLock)};
    if (!schema.empty()) {
        statements.push_back({{}, {}, fmt::format("CREATE SCHEMA IF NOT EXISTS \"{}\"", schema)});
    }
    statements.push_back(Make(kCreateTable));
    statements.push_back(Make("COMMIT"));
    auto created = Run(statements, deadline);
    if (!created) {
        return std::move(created).error().WithContext("the table lock_state could not be created");
    }
    return {};
}

Result<std::vector<Rows>> PostgresLockSession::Run(const std::vector<Statement>& statements,
                                                   const Deadline& deadline) {
    auto answer = connection_->RoundTrip(statements, deadline);
    if (const auto* fault = std::get_if<Fault>(&answer)) return ErrorOf(*fault);
    return std::move(std::get<0>(answer));
}

// The TTL is set before the lock is taken: a process that stops in between does not block it for
// longer.
Result<PostgresLockSession::Asked> PostgresLockSession::Ask(const LockRequest& request,
                                                            const Deadline& deadline) {
    KSANA_TRY(const auto rows, Run({SetTtl(MillisecondsOf(request.ttl)),
                                    Make(kAsk, libpq::Params()
                                                   .Add(NumberOf(request.key))
                                                   .Add(std::string_view(request.key))
                                                   .Add(request.stamp)
                                                   .Add(std::string_view(request.token)))},
                                   deadline));
    RowReader row(rows.back(), 0);
    Asked asked;
    asked.granted = row.Bool();
    asked.stamp = row.MaybeInt64();
    asked.same_token = row.Bool();
    return asked;
}

// Writes the row of a lock that this session has. If its stamp was used, frees a lock that was not
// held before.
Result<TryAnswer> PostgresLockSession::Record(const LockRequest& request, bool held,
                                              const Deadline& deadline) {
    std::vector<Statement> statements;
    if (held) statements.push_back(SetTtl(MillisecondsOf(request.ttl)));
    statements.push_back(Make(kRecord, libpq::Params()
                                           .Add(std::string_view(request.key))
                                           .Add(request.stamp)
                                           .Add(std::string_view(request.token))));
    KSANA_TRY(const auto rows, Run(statements, deadline));
    if (rows.back().size() > 0) {
        RowReader row(rows.back(), 0);
        const std::int64_t fence = row.Int64();
        return TryAnswer{.grant = lock::Grant{.fence = fence, .valid_for = Applied(request.ttl)},
                         .last_stamp = row.MaybeInt64()};
    }
    std::vector<Statement> refused = {
        Make(kLastStamp, libpq::Params().Add(std::string_view(request.key)))};
    if (!held) refused.push_back(Make(kUnlock, libpq::Params().Add(NumberOf(request.key))));
    KSANA_TRY(const auto last, Run(refused, deadline));
    return TryAnswer{.grant = {}, .last_stamp = RowReader(last.front(), 0).MaybeInt64()};
}

Result<TryAnswer> PostgresLockSession::Take(const LockRequest& request, bool held) {
    const Deadline deadline(clock_, timeout_);
    if (held) return Record(request, true, deadline);
    KSANA_TRY(Asked asked, Ask(request, deadline));
    const bool used = request.stamp && asked.stamp && *asked.stamp >= *request.stamp;
    if (!asked.granted && asked.same_token && !used) {
        KSANA_TRY(const bool ended, EndHolder(request, std::nullopt, deadline));
        if (ended) {
            KSANA_TRY(asked, Ask(request, deadline));
        }
    }
    if (!asked.granted) return TryAnswer{.grant = {}, .last_stamp = asked.stamp};
    auto answer = Record(request, false, deadline);
    if (!answer) return Unclear(std::move(answer).error());
    return answer;
}

Result<bool> PostgresLockSession::EndHolder(const LockRequest& request,
                                            std::optional<std::int64_t> fence,
                                            const Deadline& deadline) {
    const auto patience =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline.Remaining() / 2).count();
    const auto answer =
        connection_->RoundTrip({Make(kEndHolder, libpq::Params()
                                                     .Add(NumberOf(request.key))
                                                     .Add(std::string_view(request.key))
                                                     .Add(std::string_view(request.token))
                                                     .Add(fence)
                                                     .Add(std::max<std::int64_t>(patience, 1)))},
                               deadline);
    if (const auto* fault = std::get_if<Fault>(&answer)) {
        if (fault->sqlstate == kNoRight) return false;
        return ErrorOf(*fault);
    }
    const Rows& rows = std::get<0>(answer).front();
    return rows.size() > 0 && RowReader(rows, 0).Bool();
}

Result<Duration> PostgresLockSession::Keep(const LockRequest& request) {
    const Deadline deadline(clock_, timeout_);
    KSANA_TRY(const auto rows, Run({SetTtl(MillisecondsOf(request.ttl))}, deadline));
    // The server frees the lock of a session only with the session.
    if (RowReader(rows.front(), 0, 1).Int32() != connection_->BackendPid()) {
        return Error(Code::kLeaseLost, "the lock is no longer held: the session is another one");
    }
    return Applied(request.ttl);
}

Result<void> PostgresLockSession::Free(const LockRequest& request, std::int64_t fence) {
    const Deadline deadline(clock_, timeout_);
    KSANA_TRY(
        const auto rows,
        Run({Make(kClear, libpq::Params().Add(std::string_view(request.key)).Add(fence)),
             SetTtl(kFreeMilliseconds), Make(kUnlock, libpq::Params().Add(NumberOf(request.key)))},
            deadline));
    if (RowReader(rows.back(), 0).Bool()) return {};
    return Error(Code::kLeaseLost, "the lock is no longer held: the session does not have it");
}

Result<bool> PostgresLockSession::FreeForeign(const LockRequest& request, std::int64_t fence) {
    return EndHolder(request, fence, Deadline(clock_, timeout_));
}

Result<void> PostgresLockSession::Prune() {
    KSANA_TRY_VOID(Run({Make(kPrune)}, Deadline(clock_, timeout_)));
    return {};
}

}  // namespace ksana::lock_postgres
