#include "ksana/store_postgres/rows/fire_locks.hpp"

namespace ksana::store_postgres {
namespace {

// The server has room for a few thousand locks (max_locks_per_transaction × max_connections) for
// all transactions together. A transaction with more jobs takes one exclusive lock for all fires,
// which the other transactions take in shared mode.
constexpr std::size_t kMaxLocks = 128;

#define KSANA_FIRES "7164200815"  // distinguishes these locks from those of other programs
constexpr std::string_view kLockSome =
    "SELECT pg_advisory_xact_lock_shared(" KSANA_FIRES
    ") UNION ALL SELECT pg_advisory_xact_lock(hashtextextended(job_id, " KSANA_FIRES
    ")) FROM unnest($1::text[]) AS v(job_id)";
constexpr std::string_view kLockAll = "SELECT pg_advisory_xact_lock(" KSANA_FIRES ")";
#undef KSANA_FIRES

}  // namespace

Statement FireJobs::Lock() const {
    Statement statement;
    if (ids_.size() > kMaxLocks) {
        statement.sql = kLockAll;
    } else {
        statement.sql = kLockSome;
        statement.params.Array(ids_);
    }
    return statement;
}

}  // namespace ksana::store_postgres
