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
#include "ksana/store/store.hpp"

namespace ksana::engine {

// How busy it is.
struct DispatchLoad {
    std::size_t slots = 0;
    std::size_t busy = 0;           // attempts under way
    bool starts_held_back = false;  // overdue runs wait because others of them were just started
};

// Carries out runs of one action kind on this node: claims what is ready for the free slots, hands
// it to the executor, keeps the leases, passes on wishes to stop, and reports how it went. Reports
// and the next claim share a transaction.
//
// RunOnce belongs to one thread. Reserve and Begin are for the planner, whose runs are stored as
// started; executors answer on threads of their own.
class Dispatcher {
  public:
    struct Options {
        std::string owner;  // of the leases; another one for every start of a node
        Duration lease = std::chrono::seconds(30);
        std::size_t slots = 4;               // attempts under way at once
        std::size_t batch = 500;             // claimed at once
        std::size_t late_start_rate = 500;   // per second; 0: no limit
        store::FollowUp follow_up;           // may be empty
        std::function<void()> wake;          // RunOnce is to be called
        std::function<void()> wake_starter;  // StartDue is to be called
        Observer* observer = nullptr;        // may be null
        LimitTracker* limits = nullptr;      // never null; shared by the dispatchers of a node
    };

    // What is given must outlive it, and the executor must have answered everything before.
    Dispatcher(store::Store& store, Executor& executor, const Clock& clock, Options options);

    Result<Step> RunOnce();

    model::ActionKind kind() const { return executor_.kind(); }
    // What tells that a run of its kind can be claimed.
    store::Topic topic() const {
        const bool tasks = executor_.kind() == model::ActionKind::kQueue;
        return tasks ? store::Topic::kTasks : store::Topic::kReady;
    }
    // Something was committed that this may have to look at. Any thread.
    void Hint(store::Topics topics);

    // Room for runs that are stored as started, under the owner and lease of StartAs. Each call is
    // followed by Begin with those that were; the rest of the room is given back.
    store::StartAs Reserve(std::size_t most = store::kMaxBatch);
    // Those whose time has not come by the store's clock, which is ahead of this node's by
    // `store_offset`, wait for it.
    void Begin(std::vector<AttemptPointer> attempts, const store::StartAs& reserved,
               Duration store_offset = {});

    // Something waits to be claimed, or may. Any thread.
    bool Behind() const { return look_for_ready_ || attempts_->claims_wait(); }

    // Hands what is due to the executor, so far as there are slots. A loop of its own, as RunOnce
    // may be waiting for a commit. Any thread.
    Step StartDue();

    // The limits are others. Any thread.
    void LimitsChanged() { attempts_->LimitsChanged(); }
    std::map<std::string, std::size_t> WaitingForLimits() const {
        return attempts_->WaitingForLimits();
    }
    GroupUse UseOfGroup(const std::string& group) const { return attempts_->UseOfGroup(group); }

    void Open() { attempts_->Open(); }
    // No further starts: what waits for its time or a slot is given back; what is under way goes
    // on.
    void Close();
    // Asks every attempt under way to stop; their runs are given back unharmed.
    void StopAll();
    // Gives back what does not stop: for the end of the time that a shutdown has.
    void Abandon();
    bool Idle() const { return attempts_->Idle(); }
    std::size_t UnderWay() const { return attempts_->UnderWay(); }
    // Any thread.
    DispatchLoad Load();

  private:
    void LetWait(const std::vector<AttemptPointer>& ended, SteadyPoint now);
    bool Lingers(SteadyPoint now, bool claims);
    void StopOverdue(SteadyPoint now);
    std::optional<store::ClaimParams> WantedClaim(SteadyPoint now);
    void NoteReported(const ActiveAttempt& attempt, const store::Applied& applied);
    void NoteRenewed(ActiveAttempt& attempt, const store::Applied& applied, SteadyPoint asked_at);
    void Accept(std::vector<model::Run> runs, std::size_t room);
    void StartJobless();
    void Start(AttemptPointer attempt, std::uint64_t stops);
    void GiveBackWaiting();
    void CountLate(std::size_t late);
    void Stop(ActiveAttempt& attempt, StopReason reason);
    Result<Step> NextStep(SteadyPoint now);

    store::Store& store_;
    Executor& executor_;
    const Clock& clock_;
    const Options options_;
    const std::shared_ptr<ActiveAttempts> attempts_;  // shared with the answers of the executor

    Mutex late_mutex_;
    LateStarts late_starts_ KSANA_GUARDED_BY(late_mutex_);

    std::atomic<bool> look_for_ready_{true};  // a commit may have made something ready
    std::atomic<bool> look_for_cancel_{false};
    // These: only RunOnce.
    RateMeter end_rate_;  // of attempts that end
    SlotThroughput throughput_;
    SteadyPoint exchanged_at_{};           // the last transaction
    std::optional<TimePoint> next_ready_;  // by this node's wall clock
    SteadyPoint asked_at_{};               // when the store was last asked for it
    std::vector<AttemptPointer> jobless_;  // claimed, but their jobs could not be read yet
};

}  // namespace ksana::engine
