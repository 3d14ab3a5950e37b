#include "ksana/lock_mariadb/mariadb_locks.hpp"

#include <fmt/core.h>

#include "ksana/lock/session_locks.hpp"
#include "ksana/lock_mariadb/mariadb_lock_session.hpp"

namespace ksana::lock_mariadb {

Result<std::unique_ptr<lock::LockDriver>> OpenMariadbLocks(const MariadbLockOptions& options) {
    KSANA_TRY(auto first, MariadbLockSession::Open(options));
    KSANA_TRY_VOID(first->Prune());
    const std::string place = options.host.starts_with('/')
                                  ? options.host
                                  : fmt::format("{}:{}", options.host, options.port);
    lock::SessionLocksOptions sessions{
        .clock = options.clock,
        .location = fmt::format("mariadb://{}/{}", place, options.database),
        .max_sessions = options.max_connections,
        .open = [options]() -> Result<std::unique_ptr<lock::LockSession>> {
            KSANA_TRY(auto session, MariadbLockSession::Open(options));
            return std::unique_ptr<lock::LockSession>(std::move(session));
        }};
    return std::unique_ptr<lock::LockDriver>(
        std::make_unique<lock::SessionLocks>(std::move(sessions), std::move(first)));
}

}  // namespace ksana::lock_mariadb
