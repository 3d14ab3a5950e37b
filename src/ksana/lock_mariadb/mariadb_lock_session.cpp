#include "ksana/lock_mariadb/mariadb_lock_session.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace ksana::lock_mariadb {
namespace {

using lock::LockRequest;
using lock::TryAnswer;

// After this the server ends a session that holds no lock.
constexpr Duration kFreeTime = std::chrono::minutes(10);
constexpr std::int64_t kMostSeconds = 31'536'000;  // of wait_timeout
constexpr unsigned kNoSuchSession = 1094;

constexpr const char* kCreateTable =
    "CREATE TABLE IF NOT EXISTS ksana_lock_state ("
    "digest CHAR(56) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY, "
    "lock_key TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, "
    "fence BIGINT NOT NULL, stamp BIGINT NULL, token BLOB NULL, session BIGINT NULL, "
    "taken_at DATETIME(6) NOT NULL) ENGINE = InnoDB";

// As binary text: otherwise the server would take the key as text in the alphabet of DATABASE().
std::string DigestOf(const std::string& key) {
    return fmt::format("SHA2(CONCAT(BINARY DATABASE(), {}), 224)", Literal("." + key));
}

std::string NameOf(const std::string& key) {
    return fmt::format("CONCAT('ksana_', {})", DigestOf(key));
}

std::int64_t WholeSecondsOf(Duration ttl) {
    return std::clamp<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(ttl).count(), 1,
                                    kMostSeconds);
}

Duration Applied(Duration ttl) {
    return std::min<Duration>(ttl, std::chrono::seconds(WholeSecondsOf(ttl)));
}

bool IsTrue(const std::optional<std::string>& text) { return Number(text) == 1; }

bool IsUsed(const LockRequest& request, std::optional<std::int64_t> stamp) {
    return request.stamp && stamp && *stamp >= *request.stamp;
}

// For what failed after the request may have had an effect: it must not be made again unseen.
Error Unclear(Error error) {
    if (error.code == Code::kLeaseLost) error.code = Code::kUnavailable;
    return error;
}

}  // namespace

Result<std::unique_ptr<MariadbLockSession>> MariadbLockSession::Open(
    const MariadbLockOptions& options) {
    KSANA_TRY(auto connection, MariadbConnection::Open(options));
    auto session = std::make_unique<MariadbLockSession>(std::move(connection), options);
    if (auto set = session->SetUp(); !set) return Unclear(std::move(set).error());
    return session;
}

// What stands in /*M! */ is for MariaDB only: MySQL does not have it.
Result<void> MariadbLockSession::SetUp() {
    Begin();
    const double seconds = std::chrono::duration<double>(timeout_).count();
    KSANA_TRY_VOID(Query(fmt::format(
        "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', autocommit = 1, "
        "time_zone = '+00:00', innodb_lock_wait_timeout = {} /*M! , max_statement_time = {:.3f} */",
        WholeSecondsOf(timeout_), seconds)));
    KSANA_TRY_VOID(SetTtl(kFreeTime));
    KSANA_TRY(const TextRow row,
              Row("SELECT CONNECTION_ID() & 4294967295, (SELECT COUNT(*) FROM "
                  "information_schema.tables WHERE table_schema = DATABASE() AND table_name = "
                  "'ksana_lock_state')",
                  2));
    if (Number(row[0]) != static_cast<std::int64_t>(connection_->Id() & 0xffffffffU)) {
        return Error(Code::kUnimplemented,
                     "locks need a connection to MariaDB itself: the address leads to a proxy, "
                     "which gives sessions to others");
    }
    KSANA_TRY(const TextRows cluster, Query("SHOW VARIABLES LIKE 'wsrep_on'"));
    if (!cluster.empty() && cluster[0].size() > 1 && cluster[0][1] == "ON") {
        return Error(Code::kUnimplemented,
                     "the server is a node of a Galera cluster: each node has locks of its own, so "
                     "two could hold the same lock");
    }
    if (Number(row[1]).value_or(0) > 0) return {};
    auto created = Query(kCreateTable);
    if (created) return {};
    return std::move(created).error().WithContext(
        "the table ksana_lock_state could not be created");
}

Result<TextRows> MariadbLockSession::Query(const std::string& sql) {
    return connection_->Query(sql, until_);
}

Result<TextRow> MariadbLockSession::Row(const std::string& sql, std::size_t columns) {
    KSANA_TRY(TextRows rows, Query(sql));
    if (rows.size() == 1 && rows[0].size() == columns) return std::move(rows[0]);
    return Error(Code::kInternal, "MariaDB: an answer without its row");
}

Result<void> MariadbLockSession::SetTtl(Duration ttl) {
    if (WholeSecondsOf(ttl) == seconds_) return {};
    KSANA_TRY_VOID(Query(fmt::format("SET SESSION wait_timeout = {}", WholeSecondsOf(ttl))));
    seconds_ = WholeSecondsOf(ttl);
    return {};
}

// A stamp that was used is refused before the lock is taken, so that nobody finds it taken for a
// moment. The row is checked again when the lock is held.
Result<MariadbLockSession::Asked> MariadbLockSession::Ask(const LockRequest& request,
                                                          std::int64_t wait_seconds) {
    KSANA_TRY(
        const TextRow row,
        Row(fmt::format("SELECT IF(s.stamp >= {}, 0, GET_LOCK({}, {})), s.stamp, s.token = {} "
                        "FROM (SELECT MAX(stamp) AS stamp, MAX(token) AS token FROM "
                        "ksana_lock_state WHERE digest = {}) AS s",
                        Literal(request.stamp), NameOf(request.key), wait_seconds,
                        Literal(request.token), DigestOf(request.key)),
            3));
    return Asked{.granted = IsTrue(row[0]), .same_token = IsTrue(row[2]), .stamp = Number(row[1])};
}

Result<void> MariadbLockSession::Unlock(const std::string& key) {
    // GET_LOCK counts: a lock that was taken twice would still be held.
    KSANA_TRY(const TextRow row, Row(fmt::format("SELECT RELEASE_LOCK({0}), IS_USED_LOCK({0}) = "
                                                 "CONNECTION_ID()",
                                                 NameOf(key)),
                                     2));
    if (IsTrue(row[0]) && !IsTrue(row[1])) return {};
    return Error(Code::kLeaseLost, "the lock is no longer held: the session does not have it");
}

// Writes the row of a lock that this session has, so that nobody else writes it. If its stamp was
// used, frees a lock that was not held before. The fence is at least the time, so that it grows
// also if the table was lost.
Result<TryAnswer> MariadbLockSession::Record(const LockRequest& request, bool held) {
    KSANA_TRY(const TextRow row,
              Row(fmt::format("SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED), "
                              "MAX(fence), MAX(stamp), IS_USED_LOCK({}) = CONNECTION_ID() "
                              "FROM ksana_lock_state WHERE digest = {}",
                              NameOf(request.key), DigestOf(request.key)),
                  4));
    if (!IsTrue(row[3])) {
        return Error(Code::kLeaseLost, "the lock is no longer held: the session does not have it");
    }
    const std::optional<std::int64_t> stamp = Number(row[2]);
    if (IsUsed(request, stamp)) {
        if (!held) KSANA_TRY_VOID(Unlock(request.key));
        return TryAnswer{.grant = {}, .last_stamp = stamp};
    }
    const std::int64_t fence = std::max(Number(row[0]).value_or(1), Number(row[1]).value_or(0) + 1);
    const std::optional<std::int64_t> next = request.stamp ? request.stamp : stamp;
    KSANA_TRY_VOID(Query(fmt::format(
        "INSERT INTO ksana_lock_state (digest, lock_key, fence, stamp, token, session, taken_at) "
        "VALUES ({}, CONVERT({} USING utf8mb4), {}, {}, {}, CONNECTION_ID(), SYSDATE(6)) "
        "ON DUPLICATE KEY UPDATE fence = VALUES(fence), stamp = VALUES(stamp), token = "
        "VALUES(token), session = VALUES(session), taken_at = VALUES(taken_at)",
        DigestOf(request.key), Literal(request.key), fence, Literal(next),
        Literal(request.token))));
    return TryAnswer{.grant = lock::Grant{.fence = fence, .valid_for = Applied(request.ttl)},
                     .last_stamp = next};
}

Result<TryAnswer> MariadbLockSession::Take(const LockRequest& request, bool held) {
    Begin();
    // Before the lock is taken: a process that stops in between does not block it for longer.
    KSANA_TRY_VOID(SetTtl(request.ttl));
    if (held) return Record(request, true);
    KSANA_TRY(Asked asked, Ask(request, 0));
    if (!asked.granted && asked.same_token && !IsUsed(request, asked.stamp)) {
        KSANA_TRY(const bool ended, EndHolder(request, std::nullopt));
        if (ended) {
            KSANA_TRY(asked, Ask(request, WholeSecondsOf(timeout_ / 2)));
        }
    }
    if (!asked.granted) return TryAnswer{.grant = {}, .last_stamp = asked.stamp};
    auto answer = Record(request, false);
    if (!answer) return Unclear(std::move(answer).error());
    return answer;
}

// Kills the session that holds the lock now, if the row says that it is this token's.
Result<bool> MariadbLockSession::EndHolder(const LockRequest& request,
                                           std::optional<std::int64_t> fence) {
    KSANA_TRY(const TextRows rows,
              Query(fmt::format("SELECT session FROM ksana_lock_state WHERE digest = {} AND token "
                                "= {} AND ({} IS NULL OR fence = {}) AND session = "
                                "IS_USED_LOCK({})",
                                DigestOf(request.key), Literal(request.token), Literal(fence),
                                Literal(fence), NameOf(request.key))));
    if (rows.empty() || rows[0].empty() || !Number(rows[0][0])) return false;
    const auto killed = Query(fmt::format("KILL CONNECTION {}", *Number(rows[0][0])));
    if (killed || connection_->LastError() == kNoSuchSession) return true;
    if (killed.error().code == Code::kPermissionDenied) return false;
    return killed.error();
}

Result<Duration> MariadbLockSession::Keep(const LockRequest& request) {
    Begin();
    KSANA_TRY_VOID(SetTtl(request.ttl));
    KSANA_TRY(
        const TextRow row,
        Row(fmt::format("SELECT IS_USED_LOCK({}) = CONNECTION_ID()", NameOf(request.key)), 1));
    if (IsTrue(row[0])) return Applied(request.ttl);
    return Error(Code::kLeaseLost, "the lock is no longer held: the session does not have it");
}

Result<void> MariadbLockSession::Free(const LockRequest& request, std::int64_t fence) {
    Begin();
    KSANA_TRY_VOID(
        Query(fmt::format("UPDATE ksana_lock_state SET token = NULL, session = NULL "
                          "WHERE digest = {} AND fence = {}",
                          DigestOf(request.key), fence)));
    // The TTL stays until the next request, so that nothing can fail after the lock is free.
    return Unlock(request.key);
}

Result<bool> MariadbLockSession::FreeForeign(const LockRequest& request, std::int64_t fence) {
    Begin();
    KSANA_TRY(const bool ended, EndHolder(request, fence));
    if (!ended) return false;
    // Returns when the server has ended the session, not before.
    KSANA_TRY(const TextRow row, Row(fmt::format("SELECT GET_LOCK({}, {})", NameOf(request.key),
                                                 WholeSecondsOf(timeout_ / 2)),
                                     1));
    if (IsTrue(row[0])) KSANA_TRY_VOID(Unlock(request.key));
    return true;
}

Result<void> MariadbLockSession::Prune() {
    Begin();
    KSANA_TRY_VOID(
        Query("DELETE FROM ksana_lock_state WHERE taken_at < UTC_TIMESTAMP() - INTERVAL "
              "7 DAY AND IS_USED_LOCK(CONCAT('ksana_', digest)) IS NULL"));
    return {};
}

}  // namespace ksana::lock_mariadb
