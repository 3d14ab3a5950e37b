#include "ksana/store_postgres/node_session.hpp"

#include <algorithm>

#include "ksana/base/log/log.hpp"

namespace ksana::store_postgres {
namespace {

// The key does not contain "ksana.", which Statement replaces. Shared: after a reconnect the server
// may not have noticed yet that the old session is dead.
#define KSANA_NODE_KEY(incarnation) "hashtextextended('ksana node ' || " incarnation ", 0)"
constexpr std::string_view kTake = "SELECT pg_advisory_lock_shared(" KSANA_NODE_KEY("$1::text") ")";
constexpr std::string_view kPid = "SELECT pg_backend_pid()";
// A recovery from a crash ends all sessions without a new start time, and resets the statistics.
constexpr std::string_view kLook =
    "SELECT one, " KSANA_NODE_KEY("one") " IN ("
    "SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks WHERE locktype = 'advisory' "
    "AND objsubid = 1 AND granted AND database = (SELECT oid FROM pg_database WHERE datname = "
    "current_database())), "
    "greatest(pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time()) > "
    "clock_timestamp() - interval '3 seconds' FROM unnest($1::text[]) AS one";

}  // namespace

void NodeSession::Hold(const std::string& incarnation) {
    const MutexLock lock(mutex_);
    incarnation_ = incarnation;
}

std::optional<std::string> NodeSession::Wanted() const {
    const MutexLock lock(mutex_);
    if (incarnation_ == held_ || pooled_) return std::nullopt;
    return incarnation_;
}

// A pooler answers with a process id of its own when a connection is made.
std::variant<bool, Fault> NodeSession::OwnsSession(Connection& connection,
                                                   const Deadline& deadline) {
    std::vector<Statement> statements(1);
    statements[0].sql = kPid;
    auto answer = connection.RoundTrip(statements, deadline);
    if (auto* fault = std::get_if<Fault>(&answer)) return std::move(*fault);
    return RowReader(std::get<0>(answer).front(), 0).Int32() == connection.BackendPid();
}

std::optional<Fault> NodeSession::Attach(Connection& connection, const Deadline& deadline) {
    const auto wanted = Wanted();
    if (!wanted) return std::nullopt;
    auto owns = OwnsSession(connection, deadline);
    if (auto* fault = std::get_if<Fault>(&owns)) return std::move(*fault);
    if (!std::get<bool>(owns)) {
        Log(LogLevel::kWarn,
            "the store's URL leads to a pooler: a server that dies is noticed by its lease only");
        const MutexLock lock(mutex_);
        pooled_ = true;
        return std::nullopt;
    }
    std::vector<Statement> statements(1);
    statements[0].sql = kTake;
    statements[0].params.Add(*wanted);
    auto answer = connection.RoundTrip(statements, deadline);
    if (auto* fault = std::get_if<Fault>(&answer)) return std::move(*fault);
    const MutexLock lock(mutex_);
    held_ = *wanted;
    since_ = clock_.SteadyNow();
    return std::nullopt;
}

void NodeSession::Detach() {
    const MutexLock lock(mutex_);
    held_.clear();
    since_.reset();
    stale_ = false;
}

bool NodeSession::IsStale() const {
    const MutexLock lock(mutex_);
    return stale_;
}

std::variant<std::optional<std::vector<std::string>>, Fault> NodeSession::Absent(
    Connection& connection, const std::vector<std::string>& incarnations,
    const Deadline& deadline) {
    std::vector<std::string> asked = incarnations;
    std::optional<SteadyPoint> since;
    {
        const MutexLock lock(mutex_);
        if (!since_) return std::nullopt;
        since = since_;
        asked.push_back(held_);  // the last one: is the own session still there?
    }
    std::vector<Statement> statements(1);
    statements[0].sql = kLook;
    statements[0].params.Array(asked);
    auto answer = connection.RoundTrip(statements, deadline);
    if (auto* fault = std::get_if<Fault>(&answer)) return std::move(*fault);
    const Rows& rows = std::get<0>(answer).front();
    bool settled = true;
    std::vector<std::string> absent;
    for (std::size_t n = 0; n < rows.size(); ++n) {
        RowReader row(rows, n);
        std::string one = row.Text();
        if (!row.Bool()) absent.push_back(std::move(one));
        if (row.Bool()) settled = false;
    }
    const MutexLock lock(mutex_);
    // A connection that broke without a sign: this node is as absent as the others seem to be.
    if (since_ == since && std::ranges::count(absent, asked.back()) > 0) stale_ = true;
    const bool own_settled = since_ == since && clock_.SteadyNow() - *since >= kSettle;
    if (stale_ || !settled || !own_settled) return std::nullopt;
    return absent;
}

}  // namespace ksana::store_postgres
