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

// What ActiveAttempts tells its dispatcher; called without a lock, on any thread.
struct AttemptSignals {
    std::function<void()> ended;  // an attempt has ended, or room that was asked for came free
    std::function<void()> due;    // an attempt that waits can be handed to the executor
};

// How many attempts of jobs of one group a node has.
struct GroupUse {
    std::size_t under_way = 0;
    std::size_t waiting = 0;
};

// The attempts of one dispatcher, and how many more there is room for: as many as there are slots
// are under way; a few more wait in front of them, so that a slot that comes free is taken at once
// and not only after a commit. Shared by the dispatcher and the answers of the executor.
// Thread-safe: executors answer on their own threads, planner and dispatcher share the room.
class ActiveAttempts {
  public:
    // The clock and the limits must outlive it.
    ActiveAttempts(const Clock& clock, LimitTracker& limits, std::size_t slots, Duration lease,
                   AttemptSignals signals)
        : clock_(clock),
          limits_(limits),
          slots_(slots),
          lease_(lease),
          signals_(std::move(signals)),
          limit_queue_(limits) {}

    // How many attempts may wait beside those under way: of those that are claimed, and of those
    // that the planner has started ahead of their time.
    void LetWait(std::size_t claimed, std::size_t planned);

    // Keeps room for at most so many; the answer is how many.
    std::size_t Reserve(std::size_t most);
    // The same for a claim, which gets at most half of the room: the planner, whose runs need no
    // claim, must find some while a claim is under way.
    std::size_t ReserveForClaim(std::size_t most);
    // Whether a claim would bring enough for a commit of its own. With no room at all (the planner
    // may have kept it for a moment) signals_.ended tells when there is some.
    bool HasRoomForClaim();
    // Whether runs wait to be claimed. Until they are, nothing is started ahead of its time: what
    // is ready comes first.
    void SetClaimsWait(bool wait);
    bool claims_wait() const;
    void GiveBack(std::size_t slots);

    // Begins to keep the lease, in room that was reserved. The attempt waits for MakeReady.
    void Add(AttemptPointer attempt);
    // The attempt can be handed to the executor from `due` on. Nothing happens when it has ended.
    void MakeReady(ActiveAttempt& attempt, std::shared_ptr<const model::Job> job,
                   std::shared_ptr<const CallbackCall> callback, SteadyPoint due);
    // Both, for an attempt that has its job.
    void AddReady(AttemptPointer attempt, SteadyPoint due);
    // Those that are due, have a slot and are held back by no limit; from now on they are under
    // way. One that would have to wait long for a limit ends at once, to be given back.
    std::vector<AttemptPointer> TakeDue(SteadyPoint now);
    // How long until TakeDue has something; none: not before an attempt ends.
    std::optional<Duration> UntilDue(SteadyPoint now) const;

    // The executor's answer. A second answer for an attempt is dropped.
    void End(ActiveAttempt& attempt, model::Event event);
    // All that have ended since the last time; their room is free again.
    std::vector<AttemptPointer> TakeEnded();
    // How many have ended. From now on signals_.ended is called for every `tell`-th only.
    std::size_t CountEnded(std::size_t tell);
    // They could not be reported: they wait, and take up room, until the next TakeEnded.
    void PutBack(std::vector<AttemptPointer> ended);

    struct Renewal {
        AttemptPointer attempt;
        model::Event event;
    };
    // Those whose lease is to be renewed by now, or all of them.
    std::vector<Renewal> Renewals(SteadyPoint now, bool all);
    // A renewal that was asked for at `asked_at` has been committed.
    void NoteRenewed(ActiveAttempt& attempt, SteadyPoint asked_at);
    // Another node has the lease, or none has: it is not renewed any more.
    void NoteLost(ActiveAttempt& attempt);

    enum class Stopping : std::uint8_t { kNot, kWaits, kUnderWay };
    // Remembers why. kNot: it has ended, or was asked before.
    Stopping Stop(ActiveAttempt& attempt, StopReason reason);
    // How often Stop has found one to stop: as long as it stays the same, StopOf need not be asked.
    std::uint64_t stops() const { return stops_; }
    // Why it was asked to stop; nothing when it has ended.
    std::optional<StopReason> StopOf(const ActiveAttempt& attempt) const;
    // Those that took too long and were not yet asked to stop.
    std::vector<AttemptPointer> Overdue(SteadyPoint now);
    std::vector<AttemptPointer> All() const;
    std::vector<AttemptPointer> Waiting() const;  // not begun

    // Limits have changed: they count for what is under way, and those that wait ask again.
    void LimitsChanged();
    // How many wait for each limit, by the limits' keys.
    std::map<std::string, std::size_t> WaitingForLimits() const;
    GroupUse UseOfGroup(const std::string& group) const;

    // How long until a renewal or the next overdue one, or less; none: there is no attempt.
    std::optional<Duration> UntilAttention(SteadyPoint now);

    // No room from now on, and no starts.
    void Close();
    // Room again; Close is over.
    void Open();
    bool closed() const;
    std::size_t UnderWay() const;
    bool Idle() const;  // no attempt, and none ended that was not taken

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
    // Not ended, by the exec_id that stands in them.
    std::unordered_map<std::string_view, AttemptPointer> attempts_ KSANA_GUARDED_BY(mutex_);
    // Have not begun and wait for no limit, by `due`. One that ended meanwhile may still be here.
    std::multimap<SteadyPoint, AttemptPointer> ready_ KSANA_GUARDED_BY(mutex_);
    LimitQueue limit_queue_ KSANA_GUARDED_BY(mutex_);     // those that wait here are not in ready_
    std::size_t under_way_ KSANA_GUARDED_BY(mutex_) = 0;  // of attempts_: begun
    // Not later than any renew_at and overdue_at.
    SteadyPoint attention_ KSANA_GUARDED_BY(mutex_) = SteadyPoint::max();
    std::vector<AttemptPointer> ended_ KSANA_GUARDED_BY(mutex_);
    std::size_t tell_ KSANA_GUARDED_BY(mutex_) = 1;  // signals_.ended comes when so many have ended
    std::size_t reserved_ KSANA_GUARDED_BY(mutex_) = 0;
    std::size_t claimed_may_wait_ KSANA_GUARDED_BY(mutex_) = 0;
    std::size_t planned_may_wait_ KSANA_GUARDED_BY(mutex_) = 0;
    bool claims_wait_ KSANA_GUARDED_BY(mutex_) = false;
    bool sent_away_ KSANA_GUARDED_BY(mutex_) = false;  // when the limit queue was last asked
    bool wanted_ KSANA_GUARDED_BY(mutex_) = false;     // a caller found no room
    bool closed_ KSANA_GUARDED_BY(mutex_) = false;
};

}  // namespace ksana::engine
