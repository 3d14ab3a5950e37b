#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ksana/lock/session_locks.hpp"
#include "ksana/lock_mariadb/mariadb_connection.hpp"

namespace ksana::lock_mariadb {

// A connection to MariaDB for one lock. One thread at a time.
class MariadbLockSession final : public lock::LockSession {
  public:
    MariadbLockSession(std::unique_ptr<MariadbConnection> connection,
                       const MariadbLockOptions& options)
        : connection_(std::move(connection)), clock_(options.clock), timeout_(options.timeout) {}

    // Connects, and creates the table if it is missing.
    static Result<std::unique_ptr<MariadbLockSession>> Open(const MariadbLockOptions& options);

    Result<lock::TryAnswer> Take(const lock::LockRequest& request, bool held) override;
    Result<Duration> Keep(const lock::LockRequest& request) override;
    Result<void> Free(const lock::LockRequest& request, std::int64_t fence) override;
    Result<bool> FreeForeign(const lock::LockRequest& request, std::int64_t fence) override;

    // Deletes the rows of locks that nobody has taken for a long time.
    Result<void> Prune();

  private:
    // The lock itself, before its row is written.
    struct Asked {
        bool granted = false;
        bool same_token = false;  // the lock was last granted to this token
        std::optional<std::int64_t> stamp;
    };

    Result<void> SetUp();
    Result<void> SetTtl(Duration ttl);
    Result<Asked> Ask(const lock::LockRequest& request, std::int64_t wait_seconds);
    Result<lock::TryAnswer> Record(const lock::LockRequest& request, bool held);
    Result<void> Unlock(const std::string& key);
    Result<bool> EndHolder(const lock::LockRequest& request, std::optional<std::int64_t> fence);
    Result<TextRows> Query(const std::string& sql);
    // Returns the only row, with so many columns.
    Result<TextRow> Row(const std::string& sql, std::size_t columns);
    void Begin() { until_ = clock_.SteadyNow() + timeout_; }

    std::unique_ptr<MariadbConnection> connection_;
    const Clock& clock_;
    const Duration timeout_;
    SteadyPoint until_{};       // the deadline of the present call
    std::int64_t seconds_ = 0;  // the server's wait_timeout
};

}  // namespace ksana::lock_mariadb
