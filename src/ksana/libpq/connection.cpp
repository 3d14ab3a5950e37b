#include "ksana/libpq/connection.hpp"

#include <fmt/core.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <utility>

#include "ksana/base/error/check.hpp"
#include "ksana/libpq/libpq.hpp"
#include "ksana/libpq/sql_text.hpp"

namespace ksana::libpq {
namespace {

struct ClearResult {
    void operator()(PGresult* result) const { Libpq().PQclear(result); }
};
using ResultHandle = std::unique_ptr<PGresult, ClearResult>;

// Maximum of prepared statements of a connection; further ones are sent unnamed. Texts differ by
// the filters in use and not by their values (except for sets of states), so this is rarely
// reached.
constexpr std::size_t kMaxPrepared = 256;

enum class Ready : std::uint8_t { kYes, kTimeout, kFailed };

Ready PollSocket(int socket, bool reading, bool writing, int timeout_ms) {
    pollfd entry{.fd = socket, .events = 0, .revents = 0};
    if (reading) entry.events = POLLIN;
    if (writing) entry.events = static_cast<short>(entry.events | POLLOUT);
    const int count = ::poll(&entry, 1, timeout_ms);
    if (count > 0) return Ready::kYes;
    if (count == 0) return Ready::kTimeout;
    return errno == EINTR ? Ready::kYes : Ready::kFailed;
}

bool IsLost(const PGconn* connection) { return Libpq().PQstatus(connection) == CONNECTION_BAD; }

Fault FaultOfResult(const PGresult* result) {
    const char* state = Libpq().PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char* text = Libpq().PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (state == nullptr) return LostFault(Libpq().PQresultErrorMessage(result));
    const char* detail = Libpq().PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
    std::string message = text == nullptr ? "" : text;
    // A detail of class 22 or 23 quotes values, which may be confidential.
    if (detail != nullptr && std::string_view(state).starts_with("40")) {
        message += fmt::format(": {}", detail);
    }
    return FaultOf(state, message);
}

// libpq does not provide the SQLSTATE of a failed connection attempt, so the message is searched.
Fault ConnectFault(const PGconn* connection) {
    const std::string_view message = Libpq().PQerrorMessage(connection);
    const auto says = [&](std::string_view part) {
        return message.find(part) != std::string_view::npos;
    };
    if (says("authentication failed") || says("no password supplied") || says("pg_hba.conf") ||
        (says("role \"") && says("does not exist"))) {
        return FaultOf("28000", message);
    }
    if (says("too many") || says("remaining connection slots")) return FaultOf("53300", message);
    if (says("database \"") && says("does not exist")) return FaultOf("3D000", message);
    return LostFault(message);
}

PGconn* StartConnect(const ConnectionOptions& options) {
    // The URL comes last and overrides the keywords before it.
    const std::array keywords = {"fallback_application_name",
                                 "keepalives_idle",
                                 "keepalives_interval",
                                 "keepalives_count",
                                 "client_encoding",
                                 "dbname",
                                 static_cast<const char*>(nullptr)};
    const std::array values = {
        "ksana", "10", "5", "3", "UTF8", options.url.c_str(), static_cast<const char*>(nullptr)};
    return Libpq().PQconnectStartParams(keywords.data(), values.data(), 1);
}

// Checked before connecting, because libpq's message would quote the parts of the URL that it does
// not understand.
bool IsUrlValid(const std::string& url) {
    char* message = nullptr;
    PQconninfoOption* parsed = Libpq().PQconninfoParse(url.c_str(), &message);
    Libpq().PQfreemem(message);
    if (parsed == nullptr) return false;
    Libpq().PQconninfoFree(parsed);
    return true;
}

std::optional<Fault> FinishConnect(PGconn* connection, const Deadline& deadline) {
    PostgresPollingStatusType state = PGRES_POLLING_WRITING;
    while (state != PGRES_POLLING_OK) {
        if (state == PGRES_POLLING_FAILED || IsLost(connection)) return ConnectFault(connection);
        const Ready ready = PollSocket(Libpq().PQsocket(connection), state == PGRES_POLLING_READING,
                                       state == PGRES_POLLING_WRITING, deadline.RemainingMs());
        if (ready == Ready::kTimeout) return DeadlineFault("the server took no connection");
        if (ready == Ready::kFailed) return LostFault("poll() failed");
        state = Libpq().PQconnectPoll(connection);
    }
    return std::nullopt;
}

void IgnoreNotice(void* /*argument*/, const char* /*message*/) {}

}  // namespace

void Connection::Close::operator()(pg_conn* connection) const { Libpq().PQfinish(connection); }

Connection::Connection(Private /*unused*/, Handle handle, ConnectionOptions options)
    : handle_(std::move(handle)), options_(std::move(options)) {}

Connection::~Connection() = default;

std::variant<std::unique_ptr<Connection>, Fault> Connection::Open(const ConnectionOptions& options,
                                                                  const Deadline& deadline) {
    if (auto loaded = LoadLibpq(); !loaded) {
        return Fault{FaultKind::kFinal, std::move(loaded).error()};
    }
    if (!IsUrlValid(options.url)) {
        return Fault{FaultKind::kFinal,
                     Error(Code::kInvalidArgument, "PostgreSQL: the URL is not one")};
    }
    Handle handle(StartConnect(options));
    if (!handle) return LostFault("out of memory");
    if (auto fault = FinishConnect(handle.get(), deadline)) return *fault;
    Libpq().PQsetNoticeProcessor(handle.get(), IgnoreNotice, nullptr);
    if (Libpq().PQsetnonblocking(handle.get(), 1) != 0 ||
        Libpq().PQenterPipelineMode(handle.get()) != 1) {
        return LostFault(Libpq().PQerrorMessage(handle.get()));
    }
    std::unique_ptr<Connection> connection(
        std::make_unique<Connection>(Private{}, std::move(handle), options));
    if (auto fault = connection->SetUp(deadline)) return *fault;
    return connection;
}

// Forces generic plans, so that a statement uses the same index every time whatever its values.
// Behind a pooler the session belongs to others, and its settings are left alone.
std::optional<Fault> Connection::SetUp(const Deadline& deadline) {
    if (!options_.prepare) return std::nullopt;
    const auto milliseconds =
        std::chrono::duration_cast<std::chrono::milliseconds>(options_.statement_timeout).count();
    Statement statement;
    statement.owned = fmt::format(
        "SELECT set_config('plan_cache_mode', 'force_generic_plan', false), "
        "set_config('jit', 'off', false), "
        "set_config('default_transaction_isolation', 'read committed', false), "
        "set_config('default_transaction_read_only', 'off', false), "
        "set_config('statement_timeout', '{0}', false), "
        "set_config('idle_in_transaction_session_timeout', '{1}', false), "
        "set_config('client_connection_check_interval', '1000', false)",
        milliseconds, milliseconds * 2);
    std::vector<Statement> statements;
    statements.push_back(std::move(statement));
    auto answer = RoundTrip(statements, deadline);
    if (auto* fault = std::get_if<Fault>(&answer)) return std::move(*fault);
    return std::nullopt;
}

std::string Connection::Rendered(std::string_view sql) const {
    return WithSchema(sql, options_.schema);
}

Fault Connection::Broken(Fault fault) {
    broken_ = true;
    return fault;
}

Fault Connection::LastFault() { return Broken(LostFault(Libpq().PQerrorMessage(handle_.get()))); }

bool Connection::Send(const Statement& statement, std::vector<Expected>& expected) {
    const auto& given = statement.params.values();
    std::vector<const char*> values(given.size());
    std::vector<int> lengths(given.size());
    const std::vector<int> formats(given.size(), 1);
    for (std::size_t i = 0; i < given.size(); ++i) {
        values[i] = given[i] ? given[i]->data() : nullptr;
        lengths[i] = given[i] ? static_cast<int>(given[i]->size()) : 0;
    }
    const int count = static_cast<int>(given.size());
    const std::string_view sql = statement.text();
    auto known = prepared_.find(sql);
    if (known == prepared_.end() && options_.prepare && prepared_.size() < kMaxPrepared) {
        known = prepared_.emplace(sql, fmt::format("k{}", ++last_name_)).first;
        expected.push_back({true, sql});
        if (Libpq().PQsendPrepare(handle_.get(), known->second.c_str(), Rendered(sql).c_str(),
                                  count, nullptr) != 1) {
            return false;
        }
    }
    expected.push_back({false, sql});
    if (known == prepared_.end()) {
        return Libpq().PQsendQueryParams(handle_.get(), Rendered(sql).c_str(), count, nullptr,
                                         values.data(), lengths.data(), formats.data(), 1) == 1;
    }
    return Libpq().PQsendQueryPrepared(handle_.get(), known->second.c_str(), count, values.data(),
                                       lengths.data(), formats.data(), 1) == 1;
}

std::variant<std::vector<Rows>, Fault> Connection::RoundTrip(
    const std::vector<Statement>& statements, const Deadline& deadline) {
    if (broken_) return LostFault("the connection is gone");
    KSANA_CHECK(!posted(), "what was posted is taken first");
    std::vector<Expected> expected;
    if (!SendAll(statements, expected)) return LastFault();
    if (auto fault = Flush(deadline)) return *fault;
    if (auto fault = DropForgotten(deadline)) return *fault;
    return Collect(expected, deadline);
}

bool Connection::SendAll(const std::vector<Statement>& statements,
                         std::vector<Expected>& expected) {
    for (const Statement& statement : statements) {
        if (!Send(statement, expected)) return false;
    }
    return Libpq().PQpipelineSync(handle_.get()) == 1;
}

void Connection::Post(const std::vector<Statement>& statements) {
    KSANA_CHECK(!posted(), "what was posted is taken first");
    if (broken_) return;
    if (!SendAll(statements, posted_) || Libpq().PQflush(handle_.get()) < 0) broken_ = true;
}

std::variant<std::vector<Rows>, Fault> Connection::TakePosted(const Deadline& deadline) {
    const std::vector<Expected> expected = std::exchange(posted_, {});
    if (broken_) return LastFault();
    if (auto fault = Flush(deadline)) return *fault;
    if (auto fault = DropForgotten(deadline)) return *fault;
    return Collect(expected, deadline);
}

void Connection::SendAndForget(std::string_view sql) {
    if (broken_) return;
    if (Libpq().PQsendQueryParams(handle_.get(), Rendered(sql).c_str(), 0, nullptr, nullptr,
                                  nullptr, nullptr, 1) != 1 ||
        Libpq().PQpipelineSync(handle_.get()) != 1 || Libpq().PQflush(handle_.get()) < 0) {
        broken_ = true;
    }
    ++forgotten_;
}

// Reads while it writes: otherwise a server that waits for this process to read would not read on.
std::optional<Fault> Connection::Flush(const Deadline& deadline) {
    while (true) {
        const int left = Libpq().PQflush(handle_.get());
        if (left < 0) return LastFault();
        if (left == 0) return std::nullopt;
        switch (PollSocket(Libpq().PQsocket(handle_.get()), true, true, deadline.RemainingMs())) {
            case Ready::kTimeout:
                return Broken(DeadlineFault("the server took no statement"));
            case Ready::kFailed:
                return Broken(LostFault("poll() failed"));
            case Ready::kYes:
                break;
        }
        if (Libpq().PQconsumeInput(handle_.get()) != 1) return LastFault();
    }
}

std::optional<Fault> Connection::AwaitResult(const Deadline& deadline) {
    while (Libpq().PQisBusy(handle_.get()) != 0) {
        switch (PollSocket(Libpq().PQsocket(handle_.get()), true, false, deadline.RemainingMs())) {
            case Ready::kTimeout:
                return Broken(DeadlineFault("the server did not answer"));
            case Ready::kFailed:
                return Broken(LostFault("poll() failed"));
            case Ready::kYes:
                break;
        }
        // A last message of the server may still be buffered; it says why the connection ended.
        if (Libpq().PQconsumeInput(handle_.get()) != 1 && Libpq().PQisBusy(handle_.get()) != 0)
            return LastFault();
    }
    return std::nullopt;
}

std::optional<Fault> Connection::DropForgotten(const Deadline& deadline) {
    while (forgotten_ > 0) {
        if (auto fault = AwaitResult(deadline)) return fault;
        const ResultHandle result(Libpq().PQgetResult(handle_.get()));
        if (result && Libpq().PQresultStatus(result.get()) == PGRES_PIPELINE_SYNC) --forgotten_;
        if (IsLost(handle_.get())) {
            return result ? Broken(FaultOfResult(result.get())) : LastFault();
        }
    }
    return std::nullopt;
}

std::variant<std::vector<Rows>, Fault> Connection::Collect(const std::vector<Expected>& expected,
                                                           const Deadline& deadline) {
    std::vector<Rows> answers;
    std::optional<Fault> first;
    std::size_t at = 0;
    while (true) {
        if (auto fault = AwaitResult(deadline)) return first ? Broken(*first) : *fault;
        ResultHandle result(Libpq().PQgetResult(handle_.get()));
        if (!result) {
            if (IsLost(handle_.get())) return first ? Broken(*first) : LastFault();
            continue;
        }
        const ExecStatusType status = Libpq().PQresultStatus(result.get());
        if (status == PGRES_PIPELINE_SYNC) break;
        const bool fine = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
        if (!fine && status != PGRES_PIPELINE_ABORTED && !first) {
            first = FaultOfResult(result.get());
        }
        if (IsLost(handle_.get())) return Broken(first ? *first : LostFault("connection lost"));
        if (at >= expected.size()) continue;
        if (expected[at].is_prepare && !fine) prepared_.erase(std::string(expected[at].sql));
        if (!expected[at].is_prepare && fine) answers.emplace_back(result.release());
        ++at;
    }
    if (!first) return answers;
    if (first->kind == FaultKind::kLost) broken_ = true;
    return *first;
}

std::variant<std::vector<Connection::Notification>, Fault> Connection::AwaitNotifications(
    Duration at_most) {
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(at_most).count();
    if (PollSocket(Libpq().PQsocket(handle_.get()), true, false, static_cast<int>(milliseconds)) ==
        Ready::kFailed) {
        return Broken(LostFault("poll() failed"));
    }
    if (Libpq().PQconsumeInput(handle_.get()) != 1) return LastFault();
    std::vector<Notification> notifications;
    while (PGnotify* notify = Libpq().PQnotifies(handle_.get())) {
        notifications.push_back({notify->relname, notify->extra});
        Libpq().PQfreemem(notify);
    }
    if (IsLost(handle_.get())) return LastFault();
    return notifications;
}

std::string Connection::Location() const {
    return fmt::format("{}:{}/{}", Libpq().PQhost(handle_.get()), Libpq().PQport(handle_.get()),
                       Libpq().PQdb(handle_.get()));
}

int Connection::ServerVersion() const { return Libpq().PQserverVersion(handle_.get()); }

int Connection::BackendPid() const { return Libpq().PQbackendPID(handle_.get()); }

}  // namespace ksana::libpq
