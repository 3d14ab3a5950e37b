#include "ksana/lock_etcd/etcd_locks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "ksana/lock/memory_locks.hpp"
#include "ksana/lock_etcd/etcd_error.hpp"
#include "ksana/lock_etcd/lock_text.hpp"

namespace ksana::lock_etcd {
namespace {

using lock::Grant;
using lock::LockRequest;
using lock::TryAnswer;

// How often a lock that is taken and freed again by others between two calls is tried.
constexpr int kRounds = 8;

Error NotHeld() { return Error(Code::kLeaseLost, "the lock is no longer held"); }

std::int64_t WholeSeconds(Duration ttl) {
    return std::chrono::ceil<std::chrono::seconds>(ttl).count();
}

std::string LeaseBody(std::int64_t lease) { return fmt::format(R"({{"ID":"{}"}})", lease); }

// Returns whether the lock is free or held by this token already, and the stamp is new.
bool Available(const KeyValue& lock, const KeyValue& stamp, const LockRequest& request) {
    if (request.stamp && stamp.revision != 0) {
        const auto last = ParseStamp(stamp.value);
        if (last && *last >= *request.stamp) return false;
    }
    if (lock.revision == 0) return true;
    const auto holding = ParseHolding(lock.value);
    return holding && holding->token == request.token;
}

std::optional<std::int64_t> NewBase(const Clock& clock) {
    return std::max<std::int64_t>(0, clock.Now().time_since_epoch().count());
}

TryAnswer Refusal(const KeyValue& stamp) {
    return {.grant = {}, .last_stamp = ParseStamp(stamp.value)};
}

TryAnswer Granted(const LockRequest& request, const KeyValue& stamp, std::int64_t fence) {
    return {.grant = Grant{.fence = fence, .valid_for = request.ttl},
            .last_stamp = request.stamp ? request.stamp : ParseStamp(stamp.value)};
}

}  // namespace

Result<TryAnswer> EtcdLocks::Try(const LockRequest& request) {
    KSANA_TRY_VOID(lock::CheckRequest(request));
    const SteadyPoint deadline = calls_.Deadline();
    // Read first: a lock that is held costs one call that writes nothing.
    KSANA_TRY(State state, ReadState(request, deadline));
    if (!Available(state.lock, state.stamp, request)) return Refusal(state.stamp);
    KSANA_TRY(const std::int64_t lease, GrantLease(request.ttl, deadline));
    auto answer = TakeWith(lease, request, std::move(state), deadline);
    // After an error too: the lock may have been taken, and nobody would release it.
    if (!answer || !answer->grant) RevokeLater(lease);
    return answer;
}

Result<TryAnswer> EtcdLocks::TakeWith(std::int64_t lease, const LockRequest& request, State state,
                                      SteadyPoint deadline) {
    const EtcdLockOptions& options = calls_.options();
    for (int round = 0; round < kRounds; ++round) {
        const bool first_lock = state.base.revision == 0;
        const auto base = first_lock ? NewBase(options.clock) : ParseFenceNumber(state.base.value);
        if (!base) {
            return Error(Code::kDataLoss,
                         fmt::format("etcd: the key {} is not a number", options.fence_key));
        }
        const std::string stamp_key = StampKey(request.key);
        const Holding holding{.token = request.token, .number = *base, .add_revision = true};
        EtcdTxn txn{.unchanged = {{request.key, state.lock.revision},
                                  {options.fence_key, state.base.revision}},
                    .puts = {{request.key, HoldingText(holding), lease}},
                    .reads = {request.key, stamp_key, options.fence_key}};
        if (first_lock) txn.puts.push_back({options.fence_key, std::to_string(*base), 0});
        if (request.stamp) {
            txn.unchanged.push_back({stamp_key, state.stamp.revision});
            txn.puts.push_back({stamp_key, StampText(*request.stamp), 0});
        }
        KSANA_TRY(EtcdTxnAnswer answer, Run(txn, deadline));
        if (answer.succeeded) {
            if (state.lock.lease != 0) RevokeLater(state.lock.lease);
            return Granted(request, state.stamp, holding.Fence(answer.revision));
        }
        state = {answer.read[0], answer.read[1], answer.read[2]};
        // The transaction was sent twice, and the answer to the first one was lost.
        if (state.lock.lease == lease) {
            return Granted(request, state.stamp, holding.Fence(state.lock.revision));
        }
        if (!Available(state.lock, state.stamp, request)) break;
    }
    return Refusal(state.stamp);
}

Result<Grant> EtcdLocks::Renew(const LockRequest& request, std::int64_t fence) {
    KSANA_TRY_VOID(lock::CheckRequest(request));
    const SteadyPoint deadline = calls_.Deadline();
    KSANA_TRY(const KeyValue held, ReadHeld(request, fence, deadline));
    // If the lease lives on after this check, so does the lock that belongs to it.
    KSANA_TRY(const std::int64_t seconds, KeepAlive(held.lease, deadline));
    if (seconds <= 0) return NotHeld();
    if (seconds == std::max<std::int64_t>(WholeSeconds(request.ttl), least_seconds_)) {
        return Grant{.fence = fence, .valid_for = request.ttl};
    }
    return ExchangeLease(request, fence, held, deadline);
}

Result<Grant> EtcdLocks::ExchangeLease(const LockRequest& request, std::int64_t fence,
                                       const KeyValue& old, SteadyPoint deadline) {
    KSANA_TRY(const std::int64_t lease, GrantLease(request.ttl, deadline));
    const Holding holding{.token = request.token, .number = fence, .add_revision = false};
    const EtcdTxn txn{.unchanged = {{request.key, old.revision}},
                      .puts = {{request.key, HoldingText(holding), lease}},
                      .reads = {request.key}};
    // After an error the new lease stays: the lock may already depend on it.
    KSANA_TRY(const EtcdTxnAnswer answer, Run(txn, deadline));
    // Without success the lock may still be ours, if the answer to a first sending was lost.
    if (!answer.succeeded && answer.read[0].lease != lease) {
        RevokeLater(lease);
        return NotHeld();
    }
    RevokeLater(old.lease);
    return Grant{.fence = fence, .valid_for = request.ttl};
}

Result<void> EtcdLocks::Release(const LockRequest& request, std::int64_t fence) {
    KSANA_TRY_VOID(lock::CheckRequest(request));
    const SteadyPoint deadline = calls_.Deadline();
    KSANA_TRY(const KeyValue held, ReadHeld(request, fence, deadline));
    // Deletes the lock if it still belongs to this lease, and nothing else.
    const auto revoked = calls_.Post("/v3/lease/revoke", LeaseBody(held.lease), deadline);
    // A lease that is gone after the lock was read: the lock is free, as it should be. That is also
    // the answer to a second sending.
    if (!revoked && revoked.error().code != Code::kNotFound) return revoked.error();
    return {};
}

Result<EtcdLocks::State> EtcdLocks::ReadState(const LockRequest& request, SteadyPoint deadline) {
    const EtcdTxn txn{.unchanged = {},
                      .puts = {},
                      .reads = {request.key, StampKey(request.key), calls_.options().fence_key}};
    KSANA_TRY(EtcdTxnAnswer answer, Run(txn, deadline));
    return State{answer.read[0], answer.read[1], answer.read[2]};
}

Result<KeyValue> EtcdLocks::ReadHeld(const LockRequest& request, std::int64_t fence,
                                     SteadyPoint deadline) {
    const EtcdTxn txn{.unchanged = {}, .puts = {}, .reads = {request.key}};
    KSANA_TRY(EtcdTxnAnswer answer, Run(txn, deadline));
    KeyValue& lock = answer.read[0];
    const auto holding = ParseHolding(lock.value);
    if (!holding || holding->token != request.token || holding->Fence(lock.revision) != fence ||
        lock.lease == 0) {
        return NotHeld();
    }
    return std::move(lock);
}

Result<EtcdTxnAnswer> EtcdLocks::Run(const EtcdTxn& txn, SteadyPoint deadline) {
    const auto json = calls_.Post("/v3/kv/txn", txn.Body(), deadline);
    if (json) return ReadTxnAnswer(txn, *json);
    // The server was so slow that the new lease had expired before it was used.
    if (json.error().code == Code::kNotFound) {
        return Error(Code::kUnavailable, json.error().message);
    }
    return json.error();
}

Result<std::int64_t> EtcdLocks::GrantLease(Duration ttl, SteadyPoint deadline) {
    const std::int64_t asked = WholeSeconds(ttl);
    KSANA_TRY(const codec::Json json,
              calls_.Post("/v3/lease/grant", fmt::format(R"({{"TTL":"{}"}})", asked), deadline));
    const std::int64_t lease = IntegerAt(json, "/ID");
    const std::int64_t applied = IntegerAt(json, "/TTL");
    if (lease == 0 || applied < asked) {
        return Error(Code::kUnavailable, "etcd: a strange answer to a request for a lease");
    }
    if (applied > asked) least_seconds_ = applied;
    return lease;
}

Result<std::int64_t> EtcdLocks::KeepAlive(std::int64_t lease, SteadyPoint deadline) {
    const auto json = calls_.Post("/v3/lease/keepalive", LeaseBody(lease), deadline);
    if (json) return IntegerAt(*json, "/result/TTL");
    if (json.error().code == Code::kNotFound) return 0;
    return json.error();
}

void EtcdLocks::RevokeLater(std::int64_t lease) {
    calls_.PostLater("/v3/lease/revoke", LeaseBody(lease));
}

}  // namespace ksana::lock_etcd
