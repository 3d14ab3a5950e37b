#include "ksana/lock_postgres/postgres_locks.hpp"

#include <fmt/core.h>

#include "ksana/libpq/sql_text.hpp"
#include "ksana/lock/session_locks.hpp"
#include "ksana/lock_postgres/postgres_lock_session.hpp"

namespace ksana::lock_postgres {

Result<std::unique_ptr<lock::LockDriver>> OpenPostgresLocks(const PostgresLockOptions& options) {
    KSANA_TRY_VOID(libpq::CheckSchemaName(options.schema));
    KSANA_TRY(auto first, PostgresLockSession::Open(options));
    KSANA_TRY_VOID(first->Prune());
    lock::SessionLocksOptions sessions{
        .clock = options.clock,
        .location = fmt::format("postgresql://{}", first->Location()),
        .max_sessions = options.max_connections,
        .open = [options]() -> Result<std::unique_ptr<lock::LockSession>> {
            KSANA_TRY(auto session, PostgresLockSession::Open(options));
            return std::unique_ptr<lock::LockSession>(std::move(session));
        }};
    return std::unique_ptr<lock::LockDriver>(
        std::make_unique<lock::SessionLocks>(std::move(sessions), std::move(first)));
}

}  // namespace ksana::lock_postgres
