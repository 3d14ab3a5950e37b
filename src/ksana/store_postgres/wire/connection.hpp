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
#include "ksana/store_postgres/wire/deadline.hpp"
#include "ksana/store_postgres/wire/fault.hpp"
#include "ksana/store_postgres/wire/params.hpp"
#include "ksana/store_postgres/wire/rows.hpp"

struct pg_conn;
struct pg_result;

namespace ksana::store_postgres {

struct ConnectionOptions {
    std::string url;
    std::string schema;
    bool prepare = true;
    Duration statement_timeout{};  // the server gives up by itself what nobody waits for any more
};

// One statement with its parameters. "ksana." in its text stands for the schema in use.
struct Statement {
    std::string_view sql;  // lives as long as it is queued
    Params params;
    std::string owned;  // the text, where it was put together for the call; else empty

    std::string_view text() const { return owned.empty() ? sql : std::string_view(owned); }
};

// A connection in pipeline mode that never blocks beyond a deadline (name resolution excepted,
// which libpq does in one go). One thread at a time. After a fault other than an error of the
// server it is broken and only good for being destroyed.
class Connection {
    struct Private {};  // only Open can make one
    struct Close {
        void operator()(pg_conn* connection) const;
    };
    using Handle = std::unique_ptr<pg_conn, Close>;

  public:
    Connection(Private, Handle handle, ConnectionOptions options);
    static std::variant<std::unique_ptr<Connection>, Fault> Open(const ConnectionOptions& options,
                                                                 const Deadline& deadline);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // Sends the statements in one go and waits for the answers: one for each, or the first fault,
    // after which the server has run nothing of what followed.
    std::variant<std::vector<Rows>, Fault> RoundTrip(const std::vector<Statement>& statements,
                                                     const Deadline& deadline);

    // The same in two steps: what was posted has to be taken before the next RoundTrip. The texts
    // of the statements must be literals. A fault comes out when the answers are taken.
    void Post(const std::vector<Statement>& statements);
    bool posted() const { return !posted_.empty(); }
    std::variant<std::vector<Rows>, Fault> TakePosted(const Deadline& deadline);

    // Sends without waiting; whatever is answered is dropped by the next RoundTrip.
    void SendAndForget(std::string_view sql);

    // Waits for notifications, at most so long; "channel" and "payload" of each. Empty: none came.
    struct Notification {
        std::string channel;
        std::string payload;
    };
    std::variant<std::vector<Notification>, Fault> AwaitNotifications(Duration at_most);

    bool broken() const { return broken_; }
    // Whether the session is ours, with its settings (Connection::SetUp); not behind a pooler.
    bool owns_session() const { return options_.prepare; }
    std::string Location() const;  // host, port and database: no secrets
    int ServerVersion() const;

  private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };
    // What one answer of the server belongs to.
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
    // Names of prepared statements by their text.
    std::unordered_map<std::string, std::string, Hash, std::equal_to<>> prepared_;
    std::uint64_t last_name_ = 0;
    std::vector<Expected> posted_;
    int forgotten_ = 0;  // answers up to a sync that nobody waits for
    bool broken_ = false;
};

}  // namespace ksana::store_postgres
