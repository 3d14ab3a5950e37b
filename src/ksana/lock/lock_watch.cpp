#include "ksana/lock/lock_watch.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/log/log.hpp"
#include "ksana/base/text/utf8.hpp"

namespace ksana::lock {
namespace {

// A renewal is due after this share of the TTL, and after this one once it has failed.
constexpr int kRenewShare = 3;
constexpr int kRetryShare = 12;
constexpr Duration kLeastPause = std::chrono::milliseconds(1);

// How long a thread sleeps that has nothing to wait for.
constexpr Duration kIdle = std::chrono::hours(1);

Duration ShareOf(const LockRequest& request, int share) {
    return std::max<Duration>(request.ttl / share, kLeastPause);
}

}  // namespace

SteadyPoint EndOfGrant(SteadyPoint before, const LockRequest& request, const Grant& grant) {
    // A driver may tell any number.
    return before + std::clamp(grant.valid_for, Duration::zero(), request.ttl);
}

Error LostLock(const LockRequest& request) {
    return {Code::kLeaseLost, fmt::format("the lock \"{}\" is lost", Printable(request.key))};
}

LockWatch::LockWatch(LockDriver& driver, Clock& clock)
    : driver_(driver),
      clock_(clock),
      watcher_("lock_watch", [this](const std::stop_token& stop) { WatchLoop(stop); }),
      renewer_("lock_renew", [this](const std::stop_token& stop) { RenewLoop(stop); }) {}

LockWatch::~LockWatch() = default;

Result<std::uint64_t> LockWatch::Add(Held held) {
    const bool renew = held.renew;
    const bool watch = renew || held.on_lost;
    if (watch) {
        KSANA_TRY_VOID(watcher_.Start());
    }
    if (renew) {
        KSANA_TRY_VOID(renewer_.Start());
    }
    std::uint64_t id = 0;
    {
        const MutexLock lock(mutex_);
        id = ++last_id_;
        Entry& entry = entries_[id];
        entry.held = std::move(held);
        if (watch) ends_.emplace(entry.held.end, id);
        if (renew) {
            const auto pause = ShareOf(entry.held.request, kRenewShare);
            RenewAt(id, entry, std::min(clock_.SteadyNow() + pause, entry.held.end));
        }
    }
    if (watch) losses_changed_.Notify();
    if (renew) renewals_changed_.Notify();
    return id;
}

bool LockWatch::Holds(const Entry& entry) const {
    return entry.loss == Loss::kNone && clock_.SteadyNow() < entry.held.end;
}

bool LockWatch::IsHeld(std::uint64_t id) const {
    const MutexLock lock(mutex_);
    const auto found = entries_.find(id);
    return found != entries_.end() && Holds(found->second);
}

Result<void> LockWatch::Renew(std::uint64_t id) {
    LockRequest request;
    std::int64_t fence = 0;
    {
        const MutexLock lock(mutex_);
        const auto found = entries_.find(id);
        if (found == entries_.end()) return Error(Code::kLeaseLost, "the lock is lost");
        request = found->second.held.request;
        fence = found->second.held.fence;
        if (!Holds(found->second)) return LostLock(request);
    }
    return Ask(id, request, fence);
}

// Asks the server for a renewal and notes the answer. The lock may be released or lost meanwhile;
// then the answer has no effect here.
Result<void> LockWatch::Ask(std::uint64_t id, const LockRequest& request, std::int64_t fence) {
    const SteadyPoint before = clock_.SteadyNow();
    const Result<Grant> answer = driver_.Renew(request, fence);
    const MutexLock lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end() || found->second.loss != Loss::kNone) return LostLock(request);
    Entry& entry = found->second;
    if (!answer) {
        if (answer.error().code == Code::kLeaseLost) {
            Lose(id, entry, Loss::kRefused);
            losses_changed_.Notify();
        } else if (entry.held.renew) {
            if (!std::exchange(entry.failing, true)) {
                Log(LogLevel::kWarn, "a lock could not be renewed; it is tried again",
                    {{"key", Printable(request.key)}, {"error", answer.error().Describe()}});
            }
            RenewAt(id, entry, clock_.SteadyNow() + ShareOf(request, kRetryShare));
        }
        return answer.error();
    }
    entry.failing = false;
    Extend(id, entry, EndOfGrant(before, request, *answer));
    if (entry.held.renew) RenewAt(id, entry, before + ShareOf(request, kRenewShare));
    return {};
}

Result<void> LockWatch::Release(std::uint64_t id) {
    Entry entry;
    bool lost = false;
    {
        MutexLock lock(mutex_);
        const auto found = entries_.find(id);
        if (found == entries_.end()) return Error(Code::kLeaseLost, "the lock is lost");
        Unwatch(id, found->second);
        std::erase(to_tell_, id);
        lost = !Holds(found->second);
        entry = std::move(found->second);
        entries_.erase(found);
        // The holder's data may be gone after this call, so it waits for a notice that is running.
        // A notice that releases its own lock, which is not allowed, must not wait for itself.
        if (teller_ != std::this_thread::get_id()) {
            told_.Wait(lock, [this, id]() KSANA_REQUIRES(mutex_) { return telling_ != id; });
        }
    }
    const LockRequest& request = entry.held.request;
    if (entry.loss == Loss::kRefused) return LostLock(request);
    // A lock lost by time may still be kept for this process, by a renewal whose answer was lost.
    auto freed = driver_.Release(request, entry.held.fence);
    if (lost) return LostLock(request);
    return freed;
}

void LockWatch::Close() {
    renewer_.Stop();
    watcher_.Stop();
    const MutexLock lock(mutex_);
    entries_.clear();
    ends_.clear();
    renewals_.clear();
    to_tell_.clear();
}

void LockWatch::Lose(std::uint64_t id, Entry& entry, Loss loss) {
    Unwatch(id, entry);
    entry.loss = loss;
    if (entry.held.on_lost) to_tell_.push_back(id);
    if (entry.held.renew) {
        Log(LogLevel::kWarn, "a lock is lost",
            {{"key", Printable(entry.held.request.key)},
             {"reason", loss == Loss::kTime ? "no renewal in time" : "renewal refused"}});
    }
}

void LockWatch::Extend(std::uint64_t id, Entry& entry, SteadyPoint end) {
    if (end <= entry.held.end) return;
    if (ends_.erase({entry.held.end, id}) > 0) ends_.emplace(end, id);
    entry.held.end = end;
}

void LockWatch::RenewAt(std::uint64_t id, Entry& entry, SteadyPoint at) {
    renewals_.erase({entry.renew_at, id});
    entry.renew_at = at;
    renewals_.emplace(at, id);
}

void LockWatch::Unwatch(std::uint64_t id, const Entry& entry) {
    ends_.erase({entry.held.end, id});
    renewals_.erase({entry.renew_at, id});
}

void LockWatch::WatchLoop(const std::stop_token& stop) {
    while (!stop.stop_requested()) clock_.Wait(losses_changed_, NoticeLosses(), stop);
}

// Returns when the next lock ends. A lock whose renewal is in flight at its end is lost: its holder
// cannot wait for an answer that may never come.
SteadyPoint LockWatch::NoticeLosses() {
    {
        const MutexLock lock(mutex_);
        const SteadyPoint now = clock_.SteadyNow();
        while (!ends_.empty() && ends_.begin()->first <= now) {
            const std::uint64_t id = ends_.begin()->second;
            Lose(id, entries_.at(id), Loss::kTime);
        }
    }
    while (TellNext()) {
    }
    const MutexLock lock(mutex_);
    return ends_.empty() ? clock_.SteadyNow() + kIdle : ends_.begin()->first;
}

// Calls one on_lost, without the mutex. Returns false if none is due.
bool LockWatch::TellNext() {
    std::function<void()> tell;
    {
        const MutexLock lock(mutex_);
        if (to_tell_.empty()) return false;
        telling_ = to_tell_.front();
        teller_ = std::this_thread::get_id();
        to_tell_.pop_front();
        tell = std::move(entries_.at(*telling_).held.on_lost);
    }
    tell();
    tell = {};  // what it refers to may be gone once the release has returned
    {
        const MutexLock lock(mutex_);
        telling_.reset();
        teller_ = {};
    }
    told_.NotifyAll();
    return true;
}

void LockWatch::RenewLoop(const std::stop_token& stop) {
    while (!stop.stop_requested()) clock_.Wait(renewals_changed_, RenewDue(stop), stop);
}

// Renews what is due, one lock after the other. Returns when the next renewal is due.
SteadyPoint LockWatch::RenewDue(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        std::uint64_t id = 0;
        LockRequest request;
        std::int64_t fence = 0;
        {
            const MutexLock lock(mutex_);
            const SteadyPoint now = clock_.SteadyNow();
            if (renewals_.empty()) return now + kIdle;
            if (renewals_.begin()->first > now) return renewals_.begin()->first;
            id = renewals_.begin()->second;
            renewals_.erase(renewals_.begin());
            const Held& held = entries_.at(id).held;
            request = held.request;
            fence = held.fence;
        }
        // A failure is noted in the lock's entry.
        static_cast<void>(Ask(id, request, fence));
    }
    return clock_.SteadyNow();
}

}  // namespace ksana::lock
