#pragma once

#include <memory>
#include <string>

#include "ksana/base/time/clock.hpp"
#include "ksana/lock/lock_driver.hpp"

namespace ksana::lock_postgres {

struct PostgresLockOptions {
    std::string url;                             // postgresql://user:password@host:port/database
    const Clock& clock;                          // for deadlines; must outlive the driver
    Duration timeout = std::chrono::seconds(5);  // of one call
    // Every lock that is held needs one. One more lock is kExhausted.
    std::size_t max_connections = 64;
    std::string schema = "ksana";  // of the table lock_state; both are created if they are missing
};

// Connects and returns the driver. Its locks are advisory locks of the server, whose number is a
// hash of the key: two keys with the same hash only exclude each other. The user needs SELECT,
// INSERT, UPDATE and DELETE on the table, and the right to create it the first time.
//
// - The server ends a session that is silent for the TTL. A renewal is a statement on it.
// - A session that ends frees its lock at once: if the process dies, an administrator ends the
//   session, or the server restarts. The next renewal is kLeaseLost.
// - After a call that had no answer in time (kUnavailable) the session is given up.
// - A request with the holder's token on another driver object ends the session of that holder and
//   takes the lock over. This needs the right to end it: both connect as the same user.
// - The URL must lead to the server itself. A pooler (PgBouncer, in any mode) is kUnimplemented, as
//   is a server before version 14.
// - Locks and table do not follow a failover to a standby at once: every session ends then. The
//   fence still grows if the newest rows are lost, as it is at least the server's time in µs.
//
// A TTL above 24 days is cut to that (Grant::valid_for).
Result<std::unique_ptr<lock::LockDriver>> OpenPostgresLocks(const PostgresLockOptions& options);

}  // namespace ksana::lock_postgres
