#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "ksana/lock/lock_driver.hpp"
#include "ksana/lock_etcd/etcd_calls.hpp"
#include "ksana/lock_etcd/etcd_txn.hpp"

namespace ksana::lock_etcd {

// A held lock is a key with a lease: the server deletes it when the lease expires or is revoked.
// The driver remembers nothing about locks: token, fence and lease are read from the key, so
// another process that knows token and fence may renew or release. Every write depends on the
// revisions that were read before. Thread-safe.
//
// The fence is the revision of the write that took the lock, which grows in the whole cluster, plus
// a base: the time in microseconds at which the first lock of the cluster was taken
// (EtcdLockOptions::fence_key). A cluster that has lost its data gets a new, larger base. A cluster
// that was restored from an old copy may repeat fences.
//
// The stamp of a key is a second key without a lease, written in the same transaction: one for each
// lock that was ever taken with a stamp.
class EtcdLocks final : public lock::LockDriver {
  public:
    explicit EtcdLocks(EtcdLockOptions options) : calls_(std::move(options)) {}

    Result<void> Start() { return calls_.Start(); }

    Result<lock::TryAnswer> Try(const lock::LockRequest& request) override;
    Result<lock::Grant> Renew(const lock::LockRequest& request, std::int64_t fence) override;
    Result<void> Release(const lock::LockRequest& request, std::int64_t fence) override;
    std::string Location() const override { return calls_.Location(); }

  private:
    // What a request is judged by.
    struct State {
        KeyValue lock;
        KeyValue stamp;
        KeyValue base;  // of the fences
    };

    Result<State> ReadState(const lock::LockRequest& request, SteadyPoint deadline);
    // Takes the lock, which `state` shows to be available, with the new lease.
    Result<lock::TryAnswer> TakeWith(std::int64_t lease, const lock::LockRequest& request,
                                     State state, SteadyPoint deadline);
    // Puts the same lock with another lease, of the TTL asked for. `old` is the lock as read.
    Result<lock::Grant> ExchangeLease(const lock::LockRequest& request, std::int64_t fence,
                                      const KeyValue& old, SteadyPoint deadline);

    Result<EtcdTxnAnswer> Run(const EtcdTxn& txn, SteadyPoint deadline);
    // Returns the lock if `request` holds it under that fence, else kLeaseLost.
    Result<KeyValue> ReadHeld(const lock::LockRequest& request, std::int64_t fence,
                              SteadyPoint deadline);
    // Makes a lease for that time, or for the least that the server allows; returns its id.
    Result<std::int64_t> GrantLease(Duration ttl, SteadyPoint deadline);
    // Returns the TTL of the lease in seconds; 0: it has expired.
    Result<std::int64_t> KeepAlive(std::int64_t lease, SteadyPoint deadline);
    // Gives back a lease that no lock uses any more. Does not wait: it would expire by itself.
    void RevokeLater(std::int64_t lease);

    EtcdCalls calls_;
    std::atomic<std::int64_t> least_seconds_{1};  // the shortest TTL of the server, as far as known
};

}  // namespace ksana::lock_etcd
