#include "ksana/engine/locks/store_locks.hpp"

#include "ksana/lock/memory_locks.hpp"

namespace ksana::engine {
namespace {

store::LockParams RowOf(const lock::LockRequest& request) {
    return {.name = request.key,
            .owner = request.token,
            .ttl = request.ttl,
            .now = {},
            .stamp = request.stamp};
}

}  // namespace

Result<lock::TryAnswer> StoreLocks::Try(const lock::LockRequest& request) {
    KSANA_TRY_VOID(lock::CheckRequest(request));
    KSANA_TRY(const store::LockAnswer row, locks_.TryAcquire(RowOf(request)));
    lock::TryAnswer answer{.grant = {}, .last_stamp = row.lock.stamp};
    // The store counts the TTL from a time after the request was sent.
    if (row.granted) answer.grant = {.fence = row.lock.fence, .valid_for = request.ttl};
    return answer;
}

Result<lock::Grant> StoreLocks::Renew(const lock::LockRequest& request, std::int64_t fence) {
    KSANA_TRY_VOID(lock::CheckRequest(request));
    KSANA_TRY_VOID(locks_.Renew(RowOf(request), fence));
    return lock::Grant{.fence = fence, .valid_for = request.ttl};
}

Result<void> StoreLocks::Release(const lock::LockRequest& request, std::int64_t fence) {
    KSANA_TRY_VOID(lock::CheckRequest(request));
    return locks_.Release(RowOf(request), fence);
}

}  // namespace ksana::engine
