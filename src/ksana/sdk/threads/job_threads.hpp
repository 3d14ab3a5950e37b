#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/process/loop_thread.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/sdk/threads/timer_heap.hpp"

namespace ksana::sdk {

// Threads that run work items, now or at their time. No thread is set aside for the timers: one of
// the idle threads, the leader, waits for the first of them and runs the item itself. Another, the
// deputy, waits half a millisecond longer: it takes over if the leader still runs an item by then.
// So between the time of an item and its start there is one wake-up of one thread.
//
// An item may be queued or wait at one place only. Its body must not throw. Thread-safe.
class JobThreads {
  public:
    // `clock` must outlive the object. With 0 threads nothing runs but in RunReady.
    JobThreads(Clock& clock, std::string name, std::size_t threads);
    ~JobThreads() { Stop(); }

    // Returns kExhausted if a thread cannot be created; then none runs.
    Result<void> Start();
    // Waits for the items that run. Items that wait are left; start again to run them.
    void Stop();

    // Runs the item as soon as a thread is free. Nothing happens if it is queued already.
    void Post(WorkItem& item);
    // Runs the item at that time; moves it if it waits already. Nothing happens if it is queued to
    // run now.
    void PostAt(WorkItem& item, SteadyPoint when);
    // PostAt, but on a thread of this object only when the item that it runs now has ended, which
    // saves taking the lock once more. Withdraw does not find the item before.
    void PostAtAfterwards(WorkItem& item, SteadyPoint when);
    // Keeps a waiting item from running. False: it does not wait; it may be about to run.
    bool Withdraw(WorkItem& item);
    // Runs a waiting item now, with `due` false. Returns false if it does not wait.
    bool RunEarly(WorkItem& item);

    // Runs everything that is ready or due now on the calling thread, and returns how many items
    // ran. For tests, with 0 threads.
    std::size_t RunReady();
    // The time of the first waiting item; none: nothing waits.
    std::optional<SteadyPoint> NextTime();

    std::size_t size() const { return threads_.size(); }
    // Whether the calling thread runs an item of this object.
    bool IsCurrent() const;

  private:
    // A queue of ready items, linked through the items themselves.
    struct Queue {
        WorkItem* first = nullptr;
        WorkItem* last = nullptr;
        bool empty() const { return first == nullptr; }
        void Push(WorkItem& item);
        WorkItem* Pop();
    };

    void Run(const std::stop_token& stop);
    // The next three release the lock meanwhile.
    void RunItem(WorkItem& item) KSANA_REQUIRES(mutex_);
    void MoveDue() KSANA_REQUIRES(mutex_);
    void MakeReady(WorkItem& item, bool due) KSANA_REQUIRES(mutex_);
    void Lead(const std::stop_token& stop) KSANA_REQUIRES(mutex_);
    void Deputize(const std::stop_token& stop) KSANA_REQUIRES(mutex_);
    // Whether nobody would notice in time that the next timer is due.
    bool TimersNeedAThread() const KSANA_REQUIRES(mutex_);
    SteadyPoint WaitUntil(std::int64_t time) const;
    // Wakes a thread if one is needed and asleep.
    void WakeOne() KSANA_REQUIRES(mutex_);
    void PutTimer(WorkItem& item, SteadyPoint when) KSANA_REQUIRES(mutex_);

    Clock& clock_;
    Wakeup leader_wakeup_;
    Wakeup deputy_wakeup_;
    Mutex mutex_;
    CondVar idle_changed_;
    Queue ready_ KSANA_GUARDED_BY(mutex_);
    TimerHeap timers_ KSANA_GUARDED_BY(mutex_);
    std::size_t idle_ KSANA_GUARDED_BY(mutex_) = 0;   // threads that wait for neither timers
    std::size_t woken_ KSANA_GUARDED_BY(mutex_) = 0;  // of those, how many are to wake up
    bool has_leader_ KSANA_GUARDED_BY(mutex_) = false;
    bool has_deputy_ KSANA_GUARDED_BY(mutex_) = false;
    std::int64_t leader_until_ KSANA_GUARDED_BY(mutex_) = 0;  // steady nanoseconds
    std::int64_t deputy_until_ KSANA_GUARDED_BY(mutex_) = 0;
    bool stopping_ KSANA_GUARDED_BY(mutex_) = false;
    std::vector<std::unique_ptr<LoopThread>> threads_;
};

}  // namespace ksana::sdk
