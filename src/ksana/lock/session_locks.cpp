#include "ksana/lock/session_locks.hpp"

#include <fmt/core.h>

#include <utility>

#include "ksana/base/error/check.hpp"
#include "ksana/lock/memory_locks.hpp"

namespace ksana::lock {
namespace {

// Free sessions that are kept; further ones are ended.
constexpr std::size_t kMaxFree = 4;

Error SessionIsGone() {
    return Error(Code::kLeaseLost, "the lock is no longer held: its session has ended");
}

}  // namespace

SessionLocks::SessionLocks(SessionLocksOptions options, std::unique_ptr<LockSession> first)
    : options_(std::move(options)) {
    free_.push_back(std::move(first));
    sessions_ = 1;
}

std::optional<SessionLocks::Borrowed> SessionLocks::Borrow(const LockRequest& request,
                                                           std::optional<std::int64_t> fence) {
    MutexLock lock(mutex_);
    while (true) {
        const auto found = held_.find(request.key);
        if (found == held_.end() || found->second.token != request.token) return std::nullopt;
        Held& held = found->second;
        if (held.session) {
            if (fence && *fence != held.fence) return std::nullopt;
            return Borrowed{held.id, std::move(held.session)};
        }
        const std::uint64_t id = held.id;
        returned_.Wait(lock, [&]() KSANA_REQUIRES(mutex_) {
            const auto now = held_.find(request.key);
            return now == held_.end() || now->second.id != id || now->second.session;
        });
    }
}

void SessionLocks::Return(const LockRequest& request, Borrowed borrowed,
                          const std::optional<Grant>& grant) {
    const MutexLock lock(mutex_);
    const auto found = held_.find(request.key);
    KSANA_CHECK(found != held_.end() && found->second.id == borrowed.id,
                "a lock that is held is granted to nobody else");
    found->second.session = std::move(borrowed.session);
    if (grant) {
        found->second.fence = grant->fence;
        found->second.until = options_.clock.SteadyNow() + request.ttl;
    }
    returned_.NotifyAll();
}

SessionLocks::Session SessionLocks::Forget(const std::string& key, Borrowed borrowed) {
    const MutexLock lock(mutex_);
    const auto found = held_.find(key);
    if (found != held_.end() && found->second.id == borrowed.id) held_.erase(found);
    returned_.NotifyAll();
    return std::move(borrowed.session);
}

void SessionLocks::End(Session session) {
    if (!session) return;
    session.reset();
    const MutexLock lock(mutex_);
    --sessions_;
}

void SessionLocks::Offer(Session session) {
    {
        const MutexLock lock(mutex_);
        if (free_.size() < kMaxFree) {
            free_.push_back(std::move(session));
            return;
        }
    }
    End(std::move(session));
}

std::vector<SessionLocks::Session> SessionLocks::TakeExpired() {
    std::vector<Session> sessions;
    const SteadyPoint now = options_.clock.SteadyNow();
    for (auto at = held_.begin(); at != held_.end();) {
        if (at->second.session && at->second.until < now) {
            sessions.push_back(std::move(at->second.session));
            at = held_.erase(at);
        } else {
            ++at;
        }
    }
    return sessions;
}

Result<SessionLocks::Leased> SessionLocks::Lease() {
    std::vector<Session> expired;
    {
        const MutexLock lock(mutex_);
        expired = TakeExpired();
        sessions_ -= expired.size();
        if (!free_.empty()) {
            Session session = std::move(free_.back());
            free_.pop_back();
            return Leased{std::move(session), false};
        }
        if (sessions_ >= options_.max_sessions) {
            return Error(Code::kExhausted,
                         fmt::format("all {} connections for locks are in use: every lock that is "
                                     "held needs one (max_connections)",
                                     options_.max_sessions));
        }
        ++sessions_;
    }
    expired.clear();
    auto session = options_.open();
    if (session) return Leased{std::move(*session), true};
    const MutexLock lock(mutex_);
    --sessions_;
    return std::move(session).error();
}

void SessionLocks::Hold(const LockRequest& request, Session session, const Grant& grant) {
    Held held{.id = 0,
              .token = request.token,
              .fence = grant.fence,
              .until = options_.clock.SteadyNow() + request.ttl,
              .session = std::move(session)};
    Session old;
    {
        const MutexLock lock(mutex_);
        held.id = ++last_id_;
        // An earlier session of this driver for the key must have ended: the server granted it.
        Held& place = held_[request.key];
        old = std::move(place.session);
        place = std::move(held);
        returned_.NotifyAll();
    }
    End(std::move(old));
}

Result<TryAnswer> SessionLocks::TryFree(const LockRequest& request) {
    while (true) {
        KSANA_TRY(Leased leased, Lease());
        auto answer = leased.session->Take(request, false);
        if (!answer) {
            End(std::move(leased.session));
            if (answer.error().code != Code::kLeaseLost) return std::move(answer).error();
            // The server had ended a free session, for example because it was restarted.
            if (!leased.fresh) continue;
            return Error(Code::kUnavailable, answer.error().message);
        }
        if (answer->grant) {
            Hold(request, std::move(leased.session), *answer->grant);
        } else {
            Offer(std::move(leased.session));
        }
        return answer;
    }
}

Result<TryAnswer> SessionLocks::Try(const LockRequest& request) {
    KSANA_TRY_VOID(CheckRequest(request));
    auto borrowed = Borrow(request, std::nullopt);
    if (!borrowed) return TryFree(request);
    auto answer = borrowed->session->Take(request, true);
    if (answer) {
        Return(request, std::move(*borrowed), answer->grant);
        return answer;
    }
    End(Forget(request.key, std::move(*borrowed)));
    if (answer.error().code == Code::kLeaseLost) return TryFree(request);
    return answer;
}

Result<Grant> SessionLocks::Renew(const LockRequest& request, std::int64_t fence) {
    KSANA_TRY_VOID(CheckRequest(request));
    auto borrowed = Borrow(request, fence);
    if (!borrowed) return SessionIsGone();
    const auto kept = borrowed->session->Keep(request);
    if (!kept) {
        End(Forget(request.key, std::move(*borrowed)));
        return kept.error();
    }
    const Grant grant{.fence = fence, .valid_for = *kept};
    Return(request, std::move(*borrowed), grant);
    return grant;
}

Result<void> SessionLocks::Release(const LockRequest& request, std::int64_t fence) {
    KSANA_TRY_VOID(CheckRequest(request));
    auto borrowed = Borrow(request, fence);
    if (!borrowed) return ReleaseForeign(request, fence);
    auto freed = borrowed->session->Free(request, fence);
    Session session = Forget(request.key, std::move(*borrowed));
    if (freed) {
        Offer(std::move(session));
    } else {
        End(std::move(session));
    }
    return freed;
}

Result<void> SessionLocks::ReleaseForeign(const LockRequest& request, std::int64_t fence) {
    while (true) {
        KSANA_TRY(Leased leased, Lease());
        auto freed = leased.session->FreeForeign(request, fence);
        if (!freed) {
            End(std::move(leased.session));
            if (freed.error().code != Code::kLeaseLost) return std::move(freed).error();
            if (!leased.fresh) continue;
            return Error(Code::kUnavailable, freed.error().message);
        }
        Offer(std::move(leased.session));
        if (!*freed) return SessionIsGone();
        return {};
    }
}

}  // namespace ksana::lock
