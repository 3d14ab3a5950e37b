#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/lock/lock_driver.hpp"

namespace ksana::lock {

// A connection to a server that frees a lock when the session that has taken it ends, and that ends
// a session whose client is silent for the TTL. Holds at most one lock. One thread at a time. After
// an error the session can only be destroyed, which ends it on the server too, if the server can be
// reached; kLeaseLost says that the session had ended before anything was asked.
class LockSession {
  public:
    virtual ~LockSession() = default;

    // As LockDriver::Try. `held`: this session has the lock already, so that only the fence, the
    // stamp and the TTL are new. A refusal leaves a held lock as it was.
    virtual Result<TryAnswer> Take(const LockRequest& request, bool held) = 0;

    // Makes sure that the session still has the lock of `request`, and sets its TTL. Returns the
    // TTL that the server applies, at most that of the request.
    virtual Result<Duration> Keep(const LockRequest& request) = 0;

    // Frees the lock, so that the session can take another one.
    virtual Result<void> Free(const LockRequest& request, std::int64_t fence) = 0;

    // Ends the session of another driver that has the lock under this token and fence. Returns
    // whether there was one. Only on a session without a lock.
    virtual Result<bool> FreeForeign(const LockRequest& request, std::int64_t fence) = 0;
};

struct SessionLocksOptions {
    const Clock& clock;  // must outlive the driver
    std::string location;
    std::size_t max_sessions = 64;  // as many locks can be held at once
    // Connects within the driver's deadline. Called by any thread, also by several at once.
    std::function<Result<std::unique_ptr<LockSession>>()> open;
};

// A driver over sessions: every lock that is held has one of its own, and a few free ones are kept.
// The destructor ends the sessions, so that the server frees the locks. Renew and Release of a lock
// that another driver object holds: Renew is kLeaseLost, Release ends that session. If an answer is
// lost or too late, the session is given up, and with it the lock. Thread-safe.
class SessionLocks final : public LockDriver {
  public:
    // `first` is kept for the first request.
    SessionLocks(SessionLocksOptions options, std::unique_ptr<LockSession> first);

    Result<TryAnswer> Try(const LockRequest& request) override;
    Result<Grant> Renew(const LockRequest& request, std::int64_t fence) override;
    Result<void> Release(const LockRequest& request, std::int64_t fence) override;
    std::string Location() const override { return options_.location; }

  private:
    using Session = std::unique_ptr<LockSession>;

    // A lock that a session of this driver has taken. The server may have ended the session since.
    struct Held {
        std::uint64_t id = 0;  // differs between acquisitions
        std::string token;
        std::int64_t fence = 0;
        SteadyPoint until{};  // by then the server has ended the session unless it was renewed
        Session session;      // none: a thread has borrowed it
    };

    struct Borrowed {
        std::uint64_t id = 0;
        Session session;
    };

    struct Leased {
        Session session;
        bool fresh = false;
    };

    // Takes the session of a lock that this token holds (under `fence`, if given) for the caller
    // alone; none if there is no such lock. Waits for a thread that is using it.
    std::optional<Borrowed> Borrow(const LockRequest& request, std::optional<std::int64_t> fence);
    // Gives it back. `grant`: what holds from now on; none: the lock is as it was.
    void Return(const LockRequest& request, Borrowed borrowed, const std::optional<Grant>& grant);
    // Takes a lock out of the list and returns its session.
    Session Forget(const std::string& key, Borrowed borrowed);

    // Returns a free session, or a new one.
    Result<Leased> Lease();
    Result<TryAnswer> TryFree(const LockRequest& request);
    void Hold(const LockRequest& request, Session session, const Grant& grant);
    Result<void> ReleaseForeign(const LockRequest& request, std::int64_t fence);
    // Takes out the sessions of locks that have expired and were not released.
    std::vector<Session> TakeExpired() KSANA_REQUIRES(mutex_);
    // Keeps a session that holds no lock for the next caller, or ends it.
    void Offer(Session session);
    void End(Session session);

    const SessionLocksOptions options_;
    Mutex mutex_;
    CondVar returned_;
    std::map<std::string, Held> held_ KSANA_GUARDED_BY(mutex_);
    std::vector<Session> free_ KSANA_GUARDED_BY(mutex_);
    std::uint64_t last_id_ KSANA_GUARDED_BY(mutex_) = 0;
    std::size_t sessions_ KSANA_GUARDED_BY(mutex_) = 0;  // held, free, in use or being opened
};

}  // namespace ksana::lock
