#include "ksana/sdk/threads/job_threads.hpp"

#include <sys/prctl.h>

#include <limits>
#include <utility>

namespace ksana::sdk {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// Timers that become ready items at a time, so that the lock is not held for long.
constexpr int kMostMoved = 32;

// How much later than the leader the deputy wakes up: how late a timer can be because the leader
// runs a long item.
constexpr std::int64_t kDeputyDelay = 500'000;

// The kernel may delay a timer of a thread by this; 50,000 by default.
constexpr unsigned long kTimerSlackNanoseconds = 1;

// What PostAtAfterwards keeps until the running item has ended.
struct Afterwards {
    const void* threads = nullptr;  // whose item this thread runs; null: none
    WorkItem* item = nullptr;
    SteadyPoint when{};
};
thread_local Afterwards afterwards;

std::int64_t Nanoseconds(SteadyPoint point) { return point.time_since_epoch().count(); }

SteadyPoint PointOf(std::int64_t nanoseconds) {
    return SteadyPoint(std::chrono::nanoseconds(nanoseconds));
}

}  // namespace

void JobThreads::Queue::Push(WorkItem& item) {
    item.next = nullptr;
    (first == nullptr ? first : last->next) = &item;
    last = &item;
}

WorkItem* JobThreads::Queue::Pop() {
    WorkItem* const item = first;
    if (item != nullptr) first = item->next;
    return item;
}

JobThreads::JobThreads(Clock& clock, std::string name, std::size_t threads) : clock_(clock) {
    for (std::size_t n = 0; n < threads; ++n) {
        threads_.push_back(
            std::make_unique<LoopThread>(name, [this](const std::stop_token& stop) { Run(stop); }));
    }
}

Result<void> JobThreads::Start() {
    {
        const MutexLock lock(mutex_);
        stopping_ = false;
    }
    for (const auto& thread : threads_) {
        if (auto started = thread->Start(); !started) {
            Stop();
            return started;
        }
    }
    return {};
}

void JobThreads::Stop() {
    {
        const MutexLock lock(mutex_);
        stopping_ = true;
        woken_ = idle_;
        idle_changed_.NotifyAll();
    }
    leader_wakeup_.Notify();
    deputy_wakeup_.Notify();
    for (const auto& thread : threads_) thread->Stop();
}

void JobThreads::MakeReady(WorkItem& item, bool due) {
    item.due = due;
    item.queued = true;
    ready_.Push(item);
}

void JobThreads::WakeOne() {
    if (idle_ > woken_) {
        ++woken_;
        idle_changed_.NotifyOne();
    } else if (has_deputy_) {
        deputy_wakeup_.Notify();
    } else if (has_leader_) {
        leader_wakeup_.Notify();
    }
}

bool JobThreads::TimersNeedAThread() const {
    if (has_leader_ || timers_.empty()) return false;
    return !has_deputy_ || deputy_until_ > timers_.first_time() + kDeputyDelay;
}

void JobThreads::Post(WorkItem& item) {
    const MutexLock lock(mutex_);
    if (item.queued) return;
    timers_.Remove(item);
    MakeReady(item, true);
    WakeOne();
}

void JobThreads::PutTimer(WorkItem& item, SteadyPoint when) {
    if (item.queued) return;
    timers_.Put(item, Nanoseconds(when));
    if (has_leader_ && Nanoseconds(when) < leader_until_) leader_wakeup_.Notify();
}

void JobThreads::PostAt(WorkItem& item, SteadyPoint when) {
    const MutexLock lock(mutex_);
    PutTimer(item, when);
    if (TimersNeedAThread()) WakeOne();
}

void JobThreads::PostAtAfterwards(WorkItem& item, SteadyPoint when) {
    if (afterwards.threads != this || afterwards.item != nullptr) return PostAt(item, when);
    afterwards.item = &item;
    afterwards.when = when;
}

bool JobThreads::IsCurrent() const { return afterwards.threads == this; }

bool JobThreads::Withdraw(WorkItem& item) {
    const MutexLock lock(mutex_);
    return timers_.Remove(item);
}

bool JobThreads::RunEarly(WorkItem& item) {
    const MutexLock lock(mutex_);
    if (!timers_.Remove(item)) return false;
    MakeReady(item, false);
    WakeOne();
    return true;
}

void JobThreads::MoveDue() {
    if (timers_.empty()) return;
    const std::int64_t now = Nanoseconds(clock_.SteadyNow());
    for (int n = 0; n < kMostMoved; ++n) {
        if (timers_.empty() || timers_.first_time() > now) return;
        MakeReady(timers_.TakeFirst(), true);
    }
}

void JobThreads::RunItem(WorkItem& item) {
    item.queued = false;
    mutex_.Unlock();
    const Afterwards outer = std::exchange(afterwards, {this, nullptr, {}});
    item.run(item);
    const Afterwards again = std::exchange(afterwards, outer);
    mutex_.Lock();
    if (again.item != nullptr) PutTimer(*again.item, again.when);
}

SteadyPoint JobThreads::WaitUntil(std::int64_t time) const {
    return time == kNever ? clock_.SteadyNow() + std::chrono::hours(1) : PointOf(time);
}

// Both wait for the first timer, or for an item. The caller looks for work again afterwards.
void JobThreads::Lead(const std::stop_token& stop) {
    has_leader_ = true;
    leader_until_ = timers_.empty() ? kNever : timers_.first_time();
    const SteadyPoint until = WaitUntil(leader_until_);
    mutex_.Unlock();
    clock_.Wait(leader_wakeup_, until, stop);
    mutex_.Lock();
    has_leader_ = false;
}

void JobThreads::Deputize(const std::stop_token& stop) {
    has_deputy_ = true;
    deputy_until_ = timers_.empty() ? kNever : timers_.first_time() + kDeputyDelay;
    const SteadyPoint until = WaitUntil(deputy_until_);
    mutex_.Unlock();
    clock_.Wait(deputy_wakeup_, until, stop);
    mutex_.Lock();
    has_deputy_ = false;
}

void JobThreads::Run(const std::stop_token& stop) {
    prctl(PR_SET_TIMERSLACK, kTimerSlackNanoseconds);
    MutexLock lock(mutex_);
    while (!stopping_) {
        MoveDue();
        if (WorkItem* const item = ready_.Pop()) {
            if (!ready_.empty() || TimersNeedAThread()) WakeOne();
            RunItem(*item);
        } else if (!has_leader_) {
            Lead(stop);
        } else if (!has_deputy_) {
            Deputize(stop);
        } else {
            ++idle_;
            idle_changed_.Wait(lock, [this]() KSANA_REQUIRES(mutex_) { return woken_ > 0; });
            --idle_;
            --woken_;
        }
    }
}

std::size_t JobThreads::RunReady() {
    std::size_t count = 0;
    MutexLock lock(mutex_);
    for (;;) {
        MoveDue();
        WorkItem* const item = ready_.Pop();
        if (item == nullptr) return count;
        RunItem(*item);
        ++count;
    }
}

std::optional<SteadyPoint> JobThreads::NextTime() {
    const MutexLock lock(mutex_);
    if (timers_.empty()) return std::nullopt;
    return PointOf(timers_.first_time());
}

}  // namespace ksana::sdk
