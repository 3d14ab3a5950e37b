#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/libpq/deadline.hpp"
#include "ksana/libpq/fault.hpp"
#include "ksana/libpq/params.hpp"
#include "ksana/libpq/rows.hpp"

struct pg_conn;
struct pg_result;

namespace ksana::libpq {

struct ConnectionOptions {
    std::string url;
    std::string schema;
    // Whether to prepare statements and change session settings; false behind a pooler.
    bool prepare = true;
    Duration statement_timeout{};  // after it the server cancels a statement by itself
};

// One statement with its parameters. "ksana." in its text stands for the configured schema.
struct Statement {
    std::string_view sql;  // must live as long as the statement is queued
    Params params;
    std::string owned;  // the text, if it was built for this call; else empty

    std::string_view text() const { return owned.empty() ? sql : std::string_view(owned); }
};

// A connection to the server in pipeline mode. No call blocks beyond its deadline, except for name
// resolution, which libpq does in one call. One thread at a time. After a fault of kind kLost or
// kDeadline the connection is broken and can only be destroyed.
class Connection {
    struct Private {};  // makes the constructor callable by Open only
    struct Close {
        void operator()(pg_conn* connection) const;
    };
    using Handle = std::unique_ptr<pg_conn, Close>;

  public:
    // Use Open.
    Connection(Private, Handle handle, ConnectionOptions options);
    // Loads libpq, connects and sets up the session. The fault is kFinal if libpq is missing or the
    // URL is invalid.
    static std::variant<std::unique_ptr<Connection>, Fault> Open(const ConnectionOptions& options,
                                                                 const Deadline& deadline);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // Sends the statements in one go and waits for the answers. Returns one answer for each
    // statement, or the first fault; the server runs no statement after the one that failed.
    std::variant<std::vector<Rows>, Fault> RoundTrip(const std::vector<Statement>& statements,
                                                     const Deadline& deadline);

    // RoundTrip in two steps: Post sends, TakePosted waits for the answers and reports faults.
    // Posted answers must be taken before the next RoundTrip. The statements' texts must be
    // literals.
    void Post(const std::vector<Statement>& statements);
    bool posted() const { return !posted_.empty(); }
    std::variant<std::vector<Rows>, Fault> TakePosted(const Deadline& deadline);

    // Sends without waiting. The next RoundTrip or TakePosted drops the answer.
    void SendAndForget(std::string_view sql);

    // Waits for notifications, at most `at_most`. Returns an empty list if none arrived.
    struct Notification {
        std::string channel;
        std::string payload;
    };
    std::variant<std::vector<Notification>, Fault> AwaitNotifications(Duration at_most);

    bool broken() const { return broken_; }
    // Whether this connection has a session of its own, with the settings of SetUp; false behind a
    // pooler.
    bool owns_session() const { return options_.prepare; }
    std::string Location() const;  // host, port and database; no secrets
    int ServerVersion() const;
    // The process that serves this connection, as the server named it when it was made. Behind a
    // pooler it is not the one that answers pg_backend_pid().
    int BackendPid() const;

  private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };
    // The statement that one answer of the server belongs to.
    struct Expected {
        bool is_prepare = false;
        std::string_view sql;
    };

    std::optional<Fault> SetUp(const Deadline& deadline);
    bool SendAll(const std::vector<Statement>& statements, std::vector<Expected>& expected);
    bool Send(const Statement& statement, std::vector<Expected>& expected);
    std::optional<Fault> Flush(const Deadline& deadline);
    std::optional<Fault> AwaitResult(const Deadline& deadline);
    std::optional<Fault> DropForgotten(const Deadline& deadline);
    std::variant<std::vector<Rows>, Fault> Collect(const std::vector<Expected>& expected,
                                                   const Deadline& deadline);
    Fault Broken(Fault fault);
    Fault LastFault();
    std::string Rendered(std::string_view sql) const;

    Handle handle_;
    const ConnectionOptions options_;
    // Names of the prepared statements by their text, without the schema filled in.
    std::unordered_map<std::string, std::string, Hash, std::equal_to<>> prepared_;
    std::uint64_t last_name_ = 0;
    std::vector<Expected> posted_;
    int forgotten_ = 0;  // pipeline syncs whose answers are to be dropped
    bool broken_ = false;
};

}  // namespace ksana::libpq
