#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/dispatch/active_attempts.hpp"
#include "ksana/engine/dispatch/executor.hpp"
#include "ksana/engine/dispatch/late_starts.hpp"
#include "ksana/engine/dispatch/rate_meter.hpp"
#include "ksana/engine/dispatch/slot_throughput.hpp"
#include "ksana/engine/loop.hpp"
#include "ksana/engine/observer.hpp"
#include "ksana/engine/plan/store_offset.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// How busy a dispatcher is.
struct DispatchLoad {
    std::size_t slots = 0;
    std::size_t busy = 0;           // attempts that have not ended and wait for no limit
    bool starts_held_back = false;  // overdue runs wait: the rate of late starts is used up
};

// Executes runs of one action kind on this node: claims ready runs for the free slots, hands them
// to the executor, renews leases, forwards stop requests and reports outcomes. Reports and the next
// claim share a transaction. Owned by Node.
//
// RunOnce belongs to one thread. All other methods may be called from any thread: the planner and
// direct submits use Reserve and Begin, and executors answer on their own threads. If the store
// fails, RunOnce returns the error and keeps the unreported outcomes for the next call.
class Dispatcher {
  public:
    struct Options {
        std::string owner;  // of the leases; differs after each restart of a node
        Duration lease = std::chrono::seconds(30);
        std::size_t slots = 4;               // attempts in flight at once
        std::size_t batch = 500;             // runs per claim, at most
        std::size_t late_start_rate = 500;   // late starts per second, at first; 0: no limit
        store::FollowUp follow_up;           // may be empty
        std::function<void()> wake;          // requests a call of RunOnce
        std::function<void()> wake_starter;  // requests a call of StartDue
        Observer* observer = nullptr;        // may be null
        bool want_runs = false;              // give the observer the runs after their attempts
        LimitTracker* limits = nullptr;      // required; shared by the dispatchers of a node
    };

    // `store`, `executor`, `clock` and the pointers in `options` must outlive the dispatcher. The
    // executor must have answered every attempt before the dispatcher is destroyed.
    Dispatcher(store::Store& store, Executor& executor, const Clock& clock, Options options);

    Result<Step> RunOnce();

    model::ActionKind kind() const { return executor_.kind(); }
    TimePoint Now() const { return clock_.Now(); }  // this node's wall clock
    // Returns the topic of commits that make a run of this kind claimable.
    store::Topic topic() const {
        const bool tasks = executor_.kind() == model::ActionKind::kQueue;
        return tasks ? store::Topic::kTasks : store::Topic::kReady;
    }
    // Notes a commit that may require a claim or a look for cancellations. Any thread.
    void Hint(store::Topics topics);

    // Reserves room for runs that are stored as started with the returned owner and lease. Every
    // call must be followed by Begin, also if storing failed. Any thread.
    store::StartAs Reserve(std::size_t most = store::kMaxBatch);
    // Takes over the attempts of runs that were stored as started, and returns unused room.
    // Attempts whose ready time lies ahead on the store's clock, which is ahead of this node's by
    // `store_offset`, wait for it. Any thread.
    void Begin(std::vector<AttemptPointer> attempts, const store::StartAs& reserved,
               Duration store_offset = {});

    // Returns whether runs wait, or may wait, to be claimed. Any thread.
    bool Behind() const { return look_for_ready_ || attempts_->claims_wait(); }

    // Hands due attempts to the executor as far as there are slots. A separate loop calls it,
    // because RunOnce may be waiting for a commit. Any thread.
    Step StartDue();

    // Applies changed limits to attempts in flight and waiting. Any thread.
    void LimitsChanged() { attempts_->LimitsChanged(); }
    std::map<std::string, std::size_t> WaitingForLimits() const {
        return attempts_->WaitingForLimits();
    }
    GroupUse UseOfGroup(const std::string& group) const { return attempts_->UseOfGroup(group); }

    void Open() { attempts_->Open(); }
    // Refuses further starts. Gives back attempts that wait for their time or a slot; attempts in
    // flight continue.
    void Close();
    // Asks every attempt to stop. Their runs are given back without using up an attempt.
    void StopAll();
    // Ends the attempts that did not stop, at the end of a shutdown's time, and gives their runs
    // back.
    void Abandon();
    bool Idle() const { return attempts_->Idle(); }
    std::size_t UnderWay() const { return attempts_->UnderWay(); }
    DispatchLoad Load();

  private:
    void SetPrefetch(const std::vector<AttemptPointer>& ended, SteadyPoint now);
    bool Lingers(SteadyPoint now, bool claims);
    void StopOverdue(SteadyPoint now);
    std::optional<store::ClaimParams> WantedClaim(SteadyPoint now);
    void NoteReported(const ActiveAttempt& attempt, const store::Applied& applied);
    void NoteRenewed(ActiveAttempt& attempt, const store::Applied& applied, SteadyPoint asked_at);
    void Accept(std::vector<model::Run> runs, std::size_t room, TimePoint asked_at);
    void StartUnresolved();
    void Start(AttemptPointer attempt, std::uint64_t stops);
    void GiveBackWaiting();
    void CountLate(std::size_t late);
    void Stop(ActiveAttempt& attempt, StopReason reason);
    Result<Step> NextStep(SteadyPoint now);

    store::Store& store_;
    Executor& executor_;
    const Clock& clock_;
    const Options options_;
    const std::shared_ptr<ActiveAttempts> attempts_;  // shared with the executor's `done` callbacks

    Mutex late_mutex_;
    LateStarts late_starts_ KSANA_GUARDED_BY(late_mutex_);

    std::atomic<bool> look_for_ready_{true};  // a commit may have made a run claimable
    // A commit may have requested a cancellation.
    std::atomic<bool> look_for_cancel_{false};
    // Used by RunOnce only:
    RateMeter end_rate_;  // of ended attempts
    SlotThroughput throughput_;
    SteadyPoint exchanged_at_{};  // start of the last transaction
    // When the next run becomes ready, on this node's wall clock; none: unknown.
    std::optional<TimePoint> next_ready_;
    StoreOffset store_offset_;
    SteadyPoint asked_at_{};                  // when the store was last asked for next_ready_
    std::vector<AttemptPointer> unresolved_;  // claimed attempts whose jobs are not read yet
};

}  // namespace ksana::engine
