#include "ksana/lock/memory_locks.hpp"

namespace ksana::lock {
namespace {

Error NotHeld() { return Error(Code::kLeaseLost, "the lock is no longer held"); }

}  // namespace

Result<void> CheckRequest(const LockRequest& request) {
    if (request.key.empty()) return Error(Code::kInvalidArgument, "a lock needs a key");
    if (request.token.empty()) return Error(Code::kInvalidArgument, "a lock needs a token");
    if (request.ttl <= Duration::zero()) {
        return Error(Code::kInvalidArgument, "the TTL of a lock must be positive");
    }
    if (request.ttl > kMaxTtl) {
        return Error(Code::kInvalidArgument, "the TTL of a lock may be 30 days at most");
    }
    return {};
}

bool MemoryLocks::Holds(const Row& row, const LockRequest& request) const {
    return row.token == request.token && clock_.SteadyNow() < row.until;
}

Result<TryAnswer> MemoryLocks::Try(const LockRequest& request) {
    KSANA_TRY_VOID(CheckRequest(request));
    const MutexLock lock(mutex_);
    Row& row = rows_[request.key];
    TryAnswer answer{.grant = {}, .last_stamp = row.stamp};
    if (request.stamp && row.stamp && *row.stamp >= *request.stamp) return answer;
    const SteadyPoint now = clock_.SteadyNow();
    if (!row.token.empty() && row.token != request.token && now < row.until) return answer;
    row.token = request.token;
    row.until = now + request.ttl;
    ++row.fence;
    if (request.stamp) row.stamp = request.stamp;
    answer.grant = Grant{.fence = row.fence, .valid_for = request.ttl};
    answer.last_stamp = row.stamp;
    return answer;
}

Result<Grant> MemoryLocks::Renew(const LockRequest& request, std::int64_t fence) {
    KSANA_TRY_VOID(CheckRequest(request));
    const MutexLock lock(mutex_);
    const auto found = rows_.find(request.key);
    if (found == rows_.end() || !Holds(found->second, request) || found->second.fence != fence) {
        return NotHeld();
    }
    found->second.until = clock_.SteadyNow() + request.ttl;
    return Grant{.fence = fence, .valid_for = request.ttl};
}

Result<void> MemoryLocks::Release(const LockRequest& request, std::int64_t fence) {
    KSANA_TRY_VOID(CheckRequest(request));
    const MutexLock lock(mutex_);
    const auto found = rows_.find(request.key);
    if (found == rows_.end() || !Holds(found->second, request) || found->second.fence != fence) {
        return NotHeld();
    }
    found->second.token.clear();
    return {};
}

}  // namespace ksana::lock
