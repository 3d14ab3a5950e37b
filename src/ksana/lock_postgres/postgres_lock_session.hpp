#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ksana/libpq/connection.hpp"
#include "ksana/lock/session_locks.hpp"
#include "ksana/lock_postgres/postgres_locks.hpp"

namespace ksana::lock_postgres {

// A connection to PostgreSQL for one lock. One thread at a time.
class PostgresLockSession final : public lock::LockSession {
  public:
    PostgresLockSession(std::unique_ptr<libpq::Connection> connection,
                        const PostgresLockOptions& options)
        : connection_(std::move(connection)), clock_(options.clock), timeout_(options.timeout) {}

    // Connects, and creates the table if it is missing.
    static Result<std::unique_ptr<PostgresLockSession>> Open(const PostgresLockOptions& options);

    Result<lock::TryAnswer> Take(const lock::LockRequest& request, bool held) override;
    Result<Duration> Keep(const lock::LockRequest& request) override;
    Result<void> Free(const lock::LockRequest& request, std::int64_t fence) override;
    Result<bool> FreeForeign(const lock::LockRequest& request, std::int64_t fence) override;

    // Deletes the rows of locks that nobody has taken for a long time.
    Result<void> Prune();
    std::string Location() const { return connection_->Location(); }

  private:
    // The lock itself, before its row is written.
    struct Asked {
        bool granted = false;
        bool same_token = false;  // the lock was last granted to this token
        std::optional<std::int64_t> stamp;
    };

    Result<void> SetUp(const PostgresLockOptions& options, const libpq::Deadline& deadline);
    Result<void> CreateTable(const std::string& schema, const libpq::Deadline& deadline);
    Result<Asked> Ask(const lock::LockRequest& request, const libpq::Deadline& deadline);
    Result<lock::TryAnswer> Record(const lock::LockRequest& request, bool held,
                                   const libpq::Deadline& deadline);
    Result<bool> EndHolder(const lock::LockRequest& request, std::optional<std::int64_t> fence,
                           const libpq::Deadline& deadline);
    Result<std::vector<libpq::Rows>> Run(const std::vector<libpq::Statement>& statements,
                                         const libpq::Deadline& deadline);

    std::unique_ptr<libpq::Connection> connection_;
    const Clock& clock_;
    const Duration timeout_;
};

}  // namespace ksana::lock_postgres
