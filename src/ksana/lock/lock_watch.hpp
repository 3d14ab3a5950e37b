#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <thread>
#include <unordered_map>
#include <utility>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/process/loop_thread.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/lock/lock_driver.hpp"

namespace ksana::lock {

// The part of LockManager that knows which locks are held and until when: renews them and tells
// their holders about losses. Shared by the manager and its locks, so that a lock that outlives the
// manager finds it closed. Thread-safe; the driver is called without the mutex.
class LockWatch {
  public:
    // `driver` and `clock` must live until Close.
    LockWatch(LockDriver& driver, Clock& clock);
    ~LockWatch();

    struct Held {
        LockRequest request;
        std::int64_t fence = 0;
        SteadyPoint end{};  // until when the holder may rely on it
        bool renew = false;
        std::function<void()> on_lost;
    };

    // Begins to watch a lock. Returns its id, or kExhausted if a thread cannot be started.
    Result<std::uint64_t> Add(Held held);

    bool IsHeld(std::uint64_t id) const;

    // Renews the lock now. Returns kLeaseLost if it is lost.
    Result<void> Renew(std::uint64_t id);

    // Ends the watching and frees the lock on the server. Returns kLeaseLost if it was lost.
    Result<void> Release(std::uint64_t id);

    // Forgets all locks and ends the threads. After that every lock counts as lost, and the driver
    // is not called any more. Called once, by the manager.
    void Close();

  private:
    enum class Loss : std::uint8_t {
        kNone,
        kTime,     // the server may still keep the lock for this process
        kRefused,  // the server has said so
    };
    struct Entry {
        Held held;
        Loss loss = Loss::kNone;
        SteadyPoint renew_at{};
        bool failing = false;  // the last renewal failed, and the log tells it
    };
    using Queue = std::set<std::pair<SteadyPoint, std::uint64_t>>;

    void WatchLoop(const std::stop_token& stop);
    void RenewLoop(const std::stop_token& stop);
    SteadyPoint NoticeLosses();
    SteadyPoint RenewDue(const std::stop_token& stop);
    bool TellNext();
    Result<void> Ask(std::uint64_t id, const LockRequest& request, std::int64_t fence);
    void Lose(std::uint64_t id, Entry& entry, Loss loss) KSANA_REQUIRES(mutex_);
    void Extend(std::uint64_t id, Entry& entry, SteadyPoint end) KSANA_REQUIRES(mutex_);
    void RenewAt(std::uint64_t id, Entry& entry, SteadyPoint at) KSANA_REQUIRES(mutex_);
    void Unwatch(std::uint64_t id, const Entry& entry) KSANA_REQUIRES(mutex_);
    bool Holds(const Entry& entry) const KSANA_REQUIRES(mutex_);

    LockDriver& driver_;
    Clock& clock_;
    mutable Mutex mutex_;
    std::unordered_map<std::uint64_t, Entry> entries_ KSANA_GUARDED_BY(mutex_);
    std::uint64_t last_id_ KSANA_GUARDED_BY(mutex_) = 0;
    // The locks with renewal or on_lost, by the end of their time. A lost one is in no queue.
    Queue ends_ KSANA_GUARDED_BY(mutex_);
    Queue renewals_ KSANA_GUARDED_BY(mutex_);
    std::deque<std::uint64_t> to_tell_ KSANA_GUARDED_BY(mutex_);
    // The lock whose on_lost runs just now, and the thread on which it does.
    std::optional<std::uint64_t> telling_ KSANA_GUARDED_BY(mutex_);
    std::thread::id teller_ KSANA_GUARDED_BY(mutex_);
    CondVar told_;
    Wakeup losses_changed_;    // for watcher_
    Wakeup renewals_changed_;  // for renewer_
    LoopThread watcher_;
    LoopThread renewer_;
};

// Returns until when the holder of a grant may rely on it, if the request was sent at `before`.
SteadyPoint EndOfGrant(SteadyPoint before, const LockRequest& request, const Grant& grant);

// The error of a lock that is lost.
Error LostLock(const LockRequest& request);

}  // namespace ksana::lock
