#include "ksana/lock/lock_manager.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "ksana/base/text/utf8.hpp"
#include "ksana/lock/lock_watch.hpp"
#include "ksana/lock/memory_locks.hpp"

namespace ksana::lock {
namespace {

// Keeps sums of times within their range.
constexpr Duration kLongestWait = std::chrono::hours(24 * 365);

Error NothingHeld() { return {Code::kLeaseLost, "no lock is held"}; }

bool IsUsed(const LockOptions& options, const Tried& tried) {
    return options.stamp && tried.last_stamp && *tried.last_stamp >= *options.stamp;
}

}  // namespace

struct Lock::State {
    std::shared_ptr<LockWatch> watch;
    std::uint64_t id = 0;
    std::int64_t fence = 0;
};

Lock::Lock() = default;
Lock::Lock(std::unique_ptr<State> state) : state_(std::move(state)) {}
Lock::Lock(Lock&& other) noexcept = default;

Lock& Lock::operator=(Lock&& other) noexcept {
    if (this == &other) return *this;
    if (state_) static_cast<void>(Release());
    state_ = std::move(other.state_);
    return *this;
}

// An error of the release has no reader; the server frees the lock when its TTL has passed.
Lock::~Lock() {
    if (state_) static_cast<void>(Release());
}

std::int64_t Lock::fence() const { return state_ ? state_->fence : 0; }

bool Lock::held() const { return state_ && state_->watch->IsHeld(state_->id); }

Result<void> Lock::Renew() {
    if (!state_) return NothingHeld();
    return state_->watch->Renew(state_->id);
}

Result<void> Lock::Release() {
    if (!state_) return NothingHeld();
    const std::unique_ptr<State> state = std::move(state_);
    return state->watch->Release(state->id);
}

LockManager::LockManager(LockDriver& driver, Clock& clock, Random& random, std::string prefix)
    : driver_(driver),
      clock_(clock),
      random_(random),
      prefix_(std::move(prefix)),
      watch_(std::make_shared<LockWatch>(driver, clock)) {}

LockManager::~LockManager() { watch_->Close(); }

std::string LockManager::KeyOf(std::string_view name) const {
    return fmt::format("{}:lock:{}", prefix_, name);
}

std::string LockManager::Location() const { return driver_.Location(); }

Result<LockRequest> LockManager::RequestOf(std::string_view name, const LockOptions& options) {
    LockRequest request{.key = KeyOf(name), .token = {}, .ttl = options.ttl, .stamp = {}};
    if (name.empty()) return Error(Code::kInvalidArgument, "a lock needs a name");
    if (!IsUtf8(name) || name.find('\0') != std::string_view::npos) {
        return Error(Code::kInvalidArgument, "the name of a lock must be UTF-8 without zero bytes");
    }
    if (request.key.size() > kMaxKeyBytes) {
        return Error(Code::kInvalidArgument,
                     fmt::format("the name of a lock may have {} bytes, not {}",
                                 kMaxKeyBytes - KeyOf("").size(), name.size()));
    }
    const std::uint64_t high = random_.Next();
    request.token = fmt::format("{:016x}{:016x}", high, random_.Next());
    request.stamp = options.stamp;
    KSANA_TRY_VOID(CheckRequest(request));
    return request;
}

Result<Tried> LockManager::TryOnce(const LockRequest& request, const LockOptions& options) {
    const SteadyPoint before = clock_.SteadyNow();
    KSANA_TRY(const TryAnswer answer, driver_.Try(request));
    Tried tried{.lock = {}, .last_stamp = answer.last_stamp};
    if (!answer.grant) return tried;
    const std::int64_t fence = answer.grant->fence;
    const SteadyPoint end = EndOfGrant(before, request, *answer.grant);
    if (clock_.SteadyNow() >= end) {
        static_cast<void>(driver_.Release(request, fence));
        return Error(Code::kUnavailable, "the lock was granted too late to be of use");
    }
    auto id = watch_->Add({.request = request,
                           .fence = fence,
                           .end = end,
                           .renew = options.renew,
                           .on_lost = options.on_lost});
    if (!id) {
        static_cast<void>(driver_.Release(request, fence));
        return std::move(id).error();
    }
    tried.lock.emplace(Lock(std::make_unique<Lock::State>(watch_, *id, fence)));
    return tried;
}

Result<Tried> LockManager::TryLock(std::string_view name, LockOptions options) {
    KSANA_TRY(const LockRequest request, RequestOf(name, options));
    return TryOnce(request, options);
}

Result<Lock> LockManager::Acquire(std::string_view name, LockOptions options,
                                  const Patience& patience, const std::stop_token& stop) {
    KSANA_TRY(const LockRequest request, RequestOf(name, options));
    const SteadyPoint begin = clock_.SteadyNow();
    const SteadyPoint deadline =
        begin + std::clamp(patience.deadline, Duration::zero(), kLongestWait);
    const Duration interval = std::clamp(patience.interval, Duration::zero(), kLongestWait);
    Wakeup nothing;  // nobody tells that the lock is free: only time and stop end the wait
    for (int tries = 1;; ++tries) {
        if (stop.stop_requested()) break;
        Result<Tried> tried = TryOnce(request, options);
        if (!tried && tried.error().code != Code::kUnavailable) return std::move(tried).error();
        if (tried && tried->lock) return *std::move(tried->lock);
        if (tried && IsUsed(options, *tried)) {
            return Error(Code::kConflict,
                         fmt::format("the lock \"{}\" was already held with the stamp {}",
                                     Printable(name), *tried->last_stamp));
        }
        const SteadyPoint now = clock_.SteadyNow();
        if (tries > patience.retries || now >= deadline) {
            if (!tried) return std::move(tried).error();
            return Error(
                Code::kDeadlineExceeded,
                fmt::format("the lock \"{}\" was not free in {} tries", Printable(name), tries));
        }
        if (clock_.Wait(nothing, std::min(now + interval, deadline), stop) ==
            WaitOutcome::kStopped) {
            break;
        }
    }
    return Error(Code::kUnavailable,
                 fmt::format("waiting for the lock \"{}\" was stopped", Printable(name)));
}

}  // namespace ksana::lock
