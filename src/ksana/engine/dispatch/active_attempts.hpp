#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/engine/dispatch/attempt.hpp"
#include "ksana/engine/limits/limit_queue.hpp"
#include "ksana/engine/limits/limits.hpp"

namespace ksana::engine {

// Notifications from ActiveAttempts to its dispatcher. Called on any thread, without a lock held.
struct AttemptSignals {
    std::function<void()> ended;  // an attempt ended, or requested room became free
    std::function<void()> due;    // a waiting attempt may be ready for the executor
};

// The number of attempts of one group's jobs on a node.
struct GroupUse {
    std::size_t under_way = 0;
    std::size_t waiting = 0;
};

// The attempts of one dispatcher and the room for more. At most `slots` attempts are in flight. A
// few more wait, already claimed, so that a free slot is taken at once and not after another
// commit. Shared by the dispatcher and the executor's `done` callbacks. Thread-safe: executors
// answer on their own threads, and planner, dispatcher and direct submits share the room.
class ActiveAttempts {
  public:
    // `clock` and `limits` must outlive the object.
    ActiveAttempts(const Clock& clock, LimitTracker& limits, std::size_t slots, Duration lease,
                   AttemptSignals signals)
        : clock_(clock),
          limits_(limits),
          slots_(slots),
          lease_(lease),
          signals_(std::move(signals)),
          limit_queue_(limits) {}

    // Sets how many attempts may wait in addition to those in flight: `claimed` for claims,
    // `planned` for runs that the planner starts ahead of their time.
    void SetPrefetch(std::size_t claimed, std::size_t planned);

    // Reserves room for at most `most` attempts. Returns the number reserved.
    std::size_t Reserve(std::size_t most);
    // Like Reserve, for a claim. Takes at most half of the room, rounded up: planned runs need no
    // claim and must find room while a claim is in flight.
    std::size_t ReserveForClaim(std::size_t most);
    // Returns whether there is enough room for a claim to be worth a commit. If there is no room at
    // all (the planner may hold it for a moment), signals_.ended is called when some becomes free.
    bool HasRoomForClaim();
    // Notes whether runs wait to be claimed. While they do, Reserve lets no planned run wait ahead
    // of its time: ready runs come first.
    void SetClaimsWait(bool wait);
    bool claims_wait() const;
    // Returns reserved room that was not used.
    void GiveBack(std::size_t slots);

    // Adds an attempt to reserved room. From now on its lease is renewed. The attempt waits for
    // MakeReady.
    void Add(AttemptPointer attempt);
    // Lets the attempt go to the executor from `due` on. Does nothing if the attempt has ended.
    void MakeReady(ActiveAttempt& attempt, std::shared_ptr<const model::Job> job,
                   std::shared_ptr<const CallbackCall> callback, SteadyPoint due);
    // Does the same as Add and MakeReady, for an attempt that already has its job.
    void AddReady(AttemptPointer attempt, SteadyPoint due);
    // Returns the attempts that are due, have a slot and pass every limit, and marks them as begun.
    // An attempt that would wait long for a limit ends at once, so that its run is given back to
    // the store.
    std::vector<AttemptPointer> TakeDue(SteadyPoint now);
    // Returns the time until TakeDue may return an attempt; none: not before an attempt ends.
    std::optional<Duration> UntilDue(SteadyPoint now) const;

    // Records the executor's answer. Ignores a second answer for the same attempt.
    void End(ActiveAttempt& attempt, model::Event event);
    // Returns the attempts that ended since the last call, and frees their room.
    std::vector<AttemptPointer> TakeEnded();
    // Returns the number of ended attempts. From now on signals_.ended is called only while at
    // least `tell` attempts have ended.
    std::size_t CountEnded(std::size_t tell);
    // Takes back attempts whose report failed. They use room until the next TakeEnded.
    void PutBack(std::vector<AttemptPointer> ended);

    // Keeps news of a running attempt for its next renewal, which comes within kNewsWait. Ignores
    // those of an attempt that has ended.
    void Tell(ActiveAttempt& attempt, AttemptNews news);

    struct Renewal {
        AttemptPointer attempt;
        model::Event event;
    };
    // Returns renewal events for the attempts whose lease is due for renewal, or for all with a
    // lease.
    std::vector<Renewal> Renewals(SteadyPoint now, bool all);
    // Notes that a renewal requested at `asked_at` was committed.
    void NoteRenewed(ActiveAttempt& attempt, SteadyPoint asked_at);
    // Notes that this node lost the lease, so that it is not renewed any more.
    void NoteLost(ActiveAttempt& attempt);

    enum class Stopping : std::uint8_t { kNot, kWaits, kUnderWay };
    // Stores the reason. Returns kNot if the attempt has ended or was already asked to stop.
    Stopping Stop(ActiveAttempt& attempt, StopReason reason);
    // The number of successful Stop calls. While it is unchanged, StopOf needs no call.
    std::uint64_t stops() const { return stops_; }
    // Returns the reason why the attempt was asked to stop; nothing if it has ended.
    std::optional<StopReason> StopOf(const ActiveAttempt& attempt) const;
    // Returns the attempts past their timeout that were not asked to stop yet.
    std::vector<AttemptPointer> Overdue(SteadyPoint now);
    std::vector<AttemptPointer> All() const;
    std::vector<AttemptPointer> Waiting() const;  // attempts that have not begun

    // Applies changed limits: attempts in flight count toward new limits, and attempts that wait
    // for a limit are tried again.
    void LimitsChanged();
    // Returns the number of waiting attempts by limit key.
    std::map<std::string, std::size_t> WaitingForLimits() const;
    GroupUse UseOfGroup(const std::string& group) const;

    // Returns a lower bound of the time until a renewal or a timeout is due; none: no attempt needs
    // either.
    std::optional<Duration> UntilNextCheck(SteadyPoint now);

    // Refuses reservations and starts from now on.
    void Close();
    // Reverts Close.
    void Open();
    bool closed() const;
    // Returns the number of attempts that have not ended and wait for no limit. Includes those that
    // wait for their time or for a slot.
    std::size_t UnderWay() const;
    bool Idle() const;  // no attempt, no ended attempt to report, and no reserved room

  private:
    void AddLocked(AttemptPointer attempt) KSANA_REQUIRES(mutex_);
    std::size_t Room(std::size_t may_wait, std::size_t ended) const KSANA_REQUIRES(mutex_);
    std::size_t RoomForClaim() const KSANA_REQUIRES(mutex_);
    std::size_t Keep(std::size_t given) KSANA_REQUIRES(mutex_);
    bool CanStart(SteadyPoint now) const KSANA_REQUIRES(mutex_);
    void TakeLimited(SteadyPoint now, std::vector<AttemptPointer>& taken) KSANA_REQUIRES(mutex_);
    void Begin(ActiveAttempt& attempt, SteadyPoint now) KSANA_REQUIRES(mutex_);
    void BeginAdmitted(LimitQueue::Admitted admitted, SteadyPoint now,
                       std::vector<AttemptPointer>& taken) KSANA_REQUIRES(mutex_);
    void NoteWaiting(ActiveAttempt& attempt, SteadyPoint now) KSANA_REQUIRES(mutex_);
    void EndLocked(ActiveAttempt& attempt, model::Event event, SteadyPoint now)
        KSANA_REQUIRES(mutex_);
    void ReleaseLimits(ActiveAttempt& attempt, model::Event& event, SteadyPoint now)
        KSANA_REQUIRES(mutex_);

    const Clock& clock_;
    LimitTracker& limits_;
    const std::size_t slots_;
    const Duration lease_;
    const AttemptSignals signals_;

    std::atomic<std::uint64_t> stops_{0};
    mutable Mutex mutex_;
    // Attempts that have not ended. The key is a view of the attempt's own exec_id.
    std::unordered_map<std::string_view, AttemptPointer> attempts_ KSANA_GUARDED_BY(mutex_);
    // Attempts that have not begun and wait for no limit, by `due`. May contain attempts that have
    // ended.
    std::multimap<SteadyPoint, AttemptPointer> ready_ KSANA_GUARDED_BY(mutex_);
    LimitQueue limit_queue_ KSANA_GUARDED_BY(mutex_);     // its attempts are not in ready_
    std::size_t under_way_ KSANA_GUARDED_BY(mutex_) = 0;  // attempts in attempts_ that have begun
    // A lower bound of every renew_at and overdue_at.
    SteadyPoint next_check_at_ KSANA_GUARDED_BY(mutex_) = SteadyPoint::max();
    std::vector<AttemptPointer> ended_ KSANA_GUARDED_BY(mutex_);
    // The number of ended attempts from which signals_.ended is called.
    std::size_t tell_ KSANA_GUARDED_BY(mutex_) = 1;
    std::size_t reserved_ KSANA_GUARDED_BY(mutex_) = 0;
    std::size_t claim_prefetch_ KSANA_GUARDED_BY(mutex_) = 0;
    std::size_t plan_prefetch_ KSANA_GUARDED_BY(mutex_) = 0;
    bool claims_wait_ KSANA_GUARDED_BY(mutex_) = false;
    // The last pass of the limit queue gave attempts back.
    bool gave_back_ KSANA_GUARDED_BY(mutex_) = false;
    bool wanted_ KSANA_GUARDED_BY(mutex_) = false;  // a caller found no room
    bool closed_ KSANA_GUARDED_BY(mutex_) = false;
};

}  // namespace ksana::engine
