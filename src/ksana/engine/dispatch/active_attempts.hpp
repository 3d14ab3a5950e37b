#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ksana/base/time/clock.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/engine/dispatch/executor.hpp"
#include "ksana/engine/limits/limit_queue.hpp"
#include "ksana/engine/limits/limits.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/store/run_store.hpp"

namespace ksana::engine {

// Why an attempt was asked to stop.
enum class StopReason : std::uint8_t {
    kNone,
    kCancelled,  // somebody wants it to stop
    kTimeout,    // it took too long
    kShutdown,   // this node ends
    kLost,       // it belongs to somebody else by now
};

// An attempt that this node has, from the claim to its end.
struct ActiveAttempt {
    model::Run run;
    std::shared_ptr<const model::Job> job;              // null: not known (yet), or there is none
    std::shared_ptr<const CallbackCall> callback = {};  // of a callback, likewise
    bool begun = false;       // handed to the executor; before that it waits
    bool has_waited = false;  // at the gate: its time is to count from its start…
    bool told_begun = false;  // …and the renewal that is under way says so
    SteadyPoint started_at{};
    SteadyPoint leased_at{};   // the lease was got, or last renewed
    SteadyPoint renew_at{};    // the lease is to be renewed then; max(): it is lost
    SteadyPoint overdue_at{};  // it is asked to stop then; max(): it has not begun
    StopReason stop = StopReason::kNone;
    LimitTracker::Ticket ticket;  // once it has begun, where there are limits
};

// An attempt that is over and not yet reported.
struct Landing {
    std::unique_ptr<ActiveAttempt> flight;
    model::Event event;
    SteadyPoint at{};
};

// What happens to ActiveAttempts that others have to know; called without a lock, on any thread.
struct AttemptSignals {
    std::function<void()> landed;   // something landed, or room that was asked for came free
    std::function<void()> departs;  // something that waits can be handed to the executor
};

// The attempts that this node has, and how many more there is room for: as many as there are slots
// are under way; a few more wait in front of them, so that a slot that comes free is taken at once
// and not only after a commit. Thread-safe: executors land on their own threads, planner and
// dispatcher share the room.
class ActiveAttempts {
  public:
    // The limits must outlive it.
    ActiveAttempts(const Clock& clock, LimitTracker& limits, std::size_t slots, Duration lease,
                   AttemptSignals news)
        : clock_(clock),
          limits_(limits),
          slots_(slots),
          lease_(lease),
          news_(std::move(news)),
          limit_queue_(limits) {}

    // So many may wait beside those under way: of those that are claimed, and of those that the
    // planner has started ahead of their time.
    void LetWait(std::size_t claimed, std::size_t planned);

    // Keeps room for at most so many; the answer is how many.
    std::size_t Reserve(std::size_t most);
    // The same for claimed ones, and of what there is only a half: the planner, whose runs then
    // need no claim, must not find nothing because a claim is under way.
    std::size_t ReserveForClaim(std::size_t most);
    // Whether a claim would bring enough for a commit of its own. With no room at all (the planner
    // may have kept it for a moment) news_.landed tells when there is some.
    bool HasRoomForClaim();
    // Something waits to be claimed. Until it is, nothing is started ahead of its time: what is
    // ready comes first.
    void ClaimsWait(bool wait);
    bool claims_wait() const;
    void GiveBack(std::size_t slots);

    // Begins to keep the lease, in room that was reserved.
    void Take(const model::Run& run);
    // What was taken can be handed to the executor from `due` on. Nothing happens when it is over.
    void Depart(std::unique_ptr<Task> task, SteadyPoint due);
    // Both.
    void TakeToDepart(std::unique_ptr<Task> task, SteadyPoint due);
    // Those that are due, have a slot and are held back by no limit; from now on they are under
    // way. Who would have to wait long for a limit lands at once, to be given back to the store.
    std::vector<Departure> TakeDue(SteadyPoint now);
    // How long until TakeDue has something; none: not before something lands.
    std::optional<Duration> UntilDeparture(SteadyPoint now) const;

    // The executor's answer. One for a flight that is not known is dropped.
    void Land(const std::string& exec_id, model::Event event);
    // All that has landed since the last time; their room is free again.
    std::vector<Landing> TakeLanded();
    // How many have landed. From now on news_.landed is called for every `tell`-th only.
    std::size_t Landed(std::size_t tell);
    // They could not be reported: they wait, and take up room, until the next TakeLanded.
    void PutBack(std::vector<Landing> landings);

    // Those whose lease is to be renewed by now, or all of them.
    std::vector<store::RunEvent> Renewals(SteadyPoint now, bool all);
    // A renewal that was asked for at `asked_at` has been committed.
    void Renewed(const std::string& exec_id, SteadyPoint asked_at);
    // The lease is somebody else's, or nobody's: it is not renewed any more.
    void Lost(const std::string& exec_id);

    enum class Stopping : std::uint8_t { kNot, kWaits, kUnderWay };
    // Remembers why. kNot: it is over, or was asked before.
    Stopping Stop(const std::string& exec_id, StopReason reason);
    // How often Stop has found one to stop: as long as it stays the same nobody need ask StopOf.
    std::uint64_t stops() const { return stops_; }
    // Why it was asked to stop; nothing when it is not under way.
    std::optional<StopReason> StopOf(const std::string& exec_id) const;
    // Those that took too long and were not yet asked to stop.
    std::vector<std::string> Overdue(SteadyPoint now);
    std::vector<std::string> All() const;
    std::vector<std::string> Waiting() const;  // not begun

    // Limits have changed: they count for what is under way, and those who wait ask again.
    void LimitsChanged();
    // Those who wait for limits, by the limits' keys.
    std::map<std::string, std::size_t> WaitingForLimits() const;
    struct GroupUse {
        std::size_t under_way = 0;
        std::size_t waiting = 0;
    };
    GroupUse UseOfGroup(const std::string& group) const;

    // How long until a renewal or the next overdue one, or less; none: nothing there.
    std::optional<Duration> UntilAttention(SteadyPoint now);

    // No room from now on, and no departures.
    void Close();
    // Room again; Close is over.
    void Open();
    bool closed() const;
    std::size_t UnderWay() const;
    bool Idle() const;  // nothing there, and nothing landed that was not taken

  private:
    using ById = std::unordered_map<std::string, std::unique_ptr<ActiveAttempt>>;

    std::unique_ptr<ActiveAttempt> NewFlight(const model::Run& run) const;
    // These: with mutex_ held.
    void Add(std::unique_ptr<ActiveAttempt> flight);
    std::size_t Room(std::size_t may_wait, std::size_t landed) const;
    std::size_t RoomForClaim() const;
    std::size_t Keep(std::size_t given);
    bool CanDepart(SteadyPoint now) const;
    void TakeLimited(SteadyPoint now, std::vector<Departure>& taken);
    void Begin(ActiveAttempt& flight, SteadyPoint now);
    void BeginAdmitted(LimitQueue::Admitted admitted, SteadyPoint now,
                       std::vector<Departure>& taken);
    void NoteWaiting(const std::string& exec_id, SteadyPoint now);
    void LandHeld(const std::string& exec_id, model::Event event, SteadyPoint now);
    void GiveUp(ActiveAttempt& flight, model::Event& event, SteadyPoint now);

    const Clock& clock_;
    LimitTracker& limits_;
    const std::size_t slots_;
    const Duration lease_;
    const AttemptSignals news_;

    std::atomic<std::uint64_t> stops_{0};
    mutable std::mutex mutex_;
    ById flights_;                                                  // by exec_id
    std::multimap<SteadyPoint, std::unique_ptr<Task>> departures_;  // have not begun
    LimitQueue limit_queue_;                      // who waits here is not among departures_
    std::size_t under_way_ = 0;                   // of flights_: begun
    SteadyPoint attention_ = SteadyPoint::max();  // not later than any renew_at and overdue_at
    std::vector<Landing> landed_;
    std::size_t tell_ = 1;  // news_.landed is called when so many have landed
    std::size_t reserved_ = 0;
    std::size_t claimed_may_wait_ = 0;
    std::size_t planned_may_wait_ = 0;
    bool claims_wait_ = false;
    bool sent_away_ = false;  // the last time that the gate was asked
    bool wanted_ = false;     // somebody found no room
    bool closed_ = false;
};

}  // namespace ksana::engine
