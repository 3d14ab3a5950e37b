#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/lock_mariadb/mariadb_locks.hpp"

struct st_mysql;  // NOLINT(readability-identifier-naming): a name of libmariadb

namespace ksana::lock_mariadb {

// The rows of an answer as text; none: NULL.
using TextRow = std::vector<std::optional<std::string>>;
using TextRows = std::vector<TextRow>;

// Returns the bytes as a literal of SQL. The server takes it as binary text, whatever its settings.
std::string Literal(std::string_view bytes);
std::string Literal(std::optional<std::int64_t> number);

// Reads a number of the server.
std::optional<std::int64_t> Number(const std::optional<std::string>& text);

// Returns the meaning of an error number of the server or of libmariadb: kLeaseLost if the session
// has ended.
Code CodeOfError(unsigned number);

// A connection that never connects again by itself. One thread at a time. After kLeaseLost or
// kUnavailable it can only be destroyed.
class MariadbConnection {
    struct Private {};  // makes the constructor callable by Open only
    struct Close {
        void operator()(st_mysql* handle) const;
    };
    using Handle = std::unique_ptr<st_mysql, Close>;

  public:
    // Use Open.
    MariadbConnection(Private, Handle handle, const MariadbLockOptions& options);
    // Loads libmariadb and connects.
    static Result<std::unique_ptr<MariadbConnection>> Open(const MariadbLockOptions& options);

    // Runs one statement. Returns kUnavailable if the answer does not begin before `until`.
    Result<TextRows> Query(const std::string& sql, SteadyPoint until);

    // The number of the session, as the server named it when it was made.
    std::uint64_t Id() const;
    // The number of the server's last error; 0 if there was none.
    unsigned LastError() const;

  private:
    Error Failure() const;
    Result<void> AwaitAnswer(SteadyPoint until);

    Handle handle_;
    const Clock& clock_;
};

}  // namespace ksana::lock_mariadb
