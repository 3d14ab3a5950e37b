#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ksana/base/time/clock.hpp"
#include "ksana/lock/lock_driver.hpp"

namespace ksana::lock_mariadb {

struct MariadbLockOptions {
    std::string host;  // or the path of a socket, which begins with /
    std::uint16_t port = 3306;
    std::string user;
    std::string password;
    std::string database;
    const Clock& clock;  // for deadlines; must outlive the driver
    // Whether the connection must be encrypted. The server's certificate is then checked against
    // `ca_file`, or against the certificates of the system if that is empty.
    bool tls = false;
    std::string ca_file;
    Duration timeout = std::chrono::seconds(5);  // of one call; a new connection rounds up to 1 s
    // Every lock that is held needs one. One more lock is kExhausted.
    std::size_t max_connections = 64;
};

// Connects, creates the table ksana_lock_state if it is missing, and returns the driver. Its locks
// are those of GET_LOCK, which belong to the whole server. The user needs SELECT, INSERT, UPDATE
// and DELETE on the table, and CREATE the first time.
//
// - The name of a lock is a digest, as the server compares names without regard to case and takes
//   at most 64 characters: CONCAT('ksana_', SHA2(CONCAT(database, '.', key), 224)). The table has
//   the key beside the digest, and IS_USED_LOCK(name) tells the connection that holds it.
// - The server ends a session that is silent for the TTL, rounded up to whole seconds
//   (wait_timeout). A renewal is a statement on it.
// - A session that ends frees its lock at once: if the process dies, an administrator kills the
//   session, or the server restarts. The next renewal is kLeaseLost; nothing is connected again
//   unseen.
// - After a call that had no answer in time (kUnavailable) the session is given up.
// - A request with the holder's token on another driver object kills the session of that holder
//   and takes the lock over. This needs the right to kill it: both connect as the same user.
// - Locks are not replicated. A Galera cluster and a proxy that shares connections are
//   kUnimplemented. After a failover every session has ended; the fence still grows if the newest
//   rows are lost, as it is at least the server's time in µs.
Result<std::unique_ptr<lock::LockDriver>> OpenMariadbLocks(const MariadbLockOptions& options);

}  // namespace ksana::lock_mariadb
