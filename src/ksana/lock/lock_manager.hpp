#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/lock/lock_driver.hpp"

namespace ksana::lock {

struct LockOptions {
    Duration ttl = std::chrono::seconds(30);
    bool renew = false;  // renew automatically, every third of the TTL, until the release
    // Called once if the lock is lost before its release: its time has passed, a renewal was
    // refused, or no renewal came through in time. On a thread of the manager; never after Release
    // has returned. Must be quick, must not throw and must not call the manager or the lock.
    std::function<void()> on_lost;
    std::optional<std::int64_t> stamp;  // see LockRequest::stamp
};

// How long Acquire tries.
struct Patience {
    int retries = 100;  // after the first try
    Duration interval = std::chrono::milliseconds(100);
    Duration deadline = std::chrono::seconds(10);  // for all tries together
};

class LockWatch;

// A lock that this process holds. Releases it when destroyed. Movable; used by one thread at a
// time. Destroy it before its manager: a lock that outlives its manager counts as lost, and its
// server frees it only when its TTL has passed.
class Lock {
  public:
    Lock();  // holds nothing
    Lock(Lock&& other) noexcept;
    Lock& operator=(Lock&& other) noexcept;
    ~Lock();

    // Returns 0 if the lock holds nothing.
    std::int64_t fence() const;
    // Returns whether the lock is held, as far as this process can know without asking.
    bool held() const;
    // Extends the lock by its TTL. Returns kLeaseLost if it is lost, for good; after any other
    // error it is held until its time has passed.
    Result<void> Renew();
    // Frees the lock and holds nothing then. Returns kLeaseLost if it was lost before. After any
    // other error the server frees it when its TTL has passed.
    Result<void> Release();

  private:
    friend class LockManager;
    struct State;
    explicit Lock(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;  // null: holds nothing
};

// The result of TryLock. Without a lock, another holder has it, or the stamp was used before.
struct Tried {
    std::optional<Lock> lock;
    std::optional<std::int64_t> last_stamp;
};

// Named locks of this process over one driver: makes keys and tokens, retries, renews
// automatically and tells holders that a lock is lost. Any number of locks can be held at once. One
// thread, started by the first lock that needs it, notices losses, and another one renews: so a
// server that does not answer delays renewals, but not the notice of a loss. Thread-safe.
class LockManager {
  public:
    // The longest key; a name is shorter by the prefix and ":lock:".
    static constexpr std::size_t kMaxKeyBytes = 200;

    // `driver`, `clock` and `random` must outlive the manager. `random` must be thread-safe. The
    // key of the lock `name` is "PREFIX:lock:NAME".
    LockManager(LockDriver& driver, Clock& clock, Random& random, std::string prefix);
    // Ends the watching without a notice to the holders of locks; waits for a renewal that is in
    // flight.
    ~LockManager();
    LockManager(const LockManager&) = delete;
    LockManager& operator=(const LockManager&) = delete;

    // Tries once, without waiting for a holder. Returns kInvalidArgument for a name or a TTL that
    // cannot be, and the driver's error.
    Result<Tried> TryLock(std::string_view name, LockOptions options);
    // Tries until the lock is free; a server that cannot be reached is tried again too. Returns
    // kDeadlineExceeded if `patience` is at its end first, kConflict if the stamp was used before,
    // kUnavailable if stop is requested or the last try failed for that reason. All tries have one
    // token: if an answer was lost, the next try gets the same lock. With a stamp it gets kConflict
    // instead, as a stamp is granted at most once.
    Result<Lock> Acquire(std::string_view name, LockOptions options, const Patience& patience,
                         const std::stop_token& stop = {});

    std::string KeyOf(std::string_view name) const;
    std::string Location() const;

  private:
    Result<LockRequest> RequestOf(std::string_view name, const LockOptions& options);
    Result<Tried> TryOnce(const LockRequest& request, const LockOptions& options);

    LockDriver& driver_;
    Clock& clock_;
    Random& random_;
    const std::string prefix_;
    const std::shared_ptr<LockWatch> watch_;
};

}  // namespace ksana::lock
