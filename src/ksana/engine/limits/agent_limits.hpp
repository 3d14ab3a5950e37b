#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/limits/limits.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// Enforces the limits of types for runs that agents claim. A claim gets no more runs than there is
// room for; the rest stays queued in order, and no attempt is used up. A run counts from its claim
// until its attempt is over: reported, given back, or its lease expired. Where nodes share a limit,
// the share of this node counts.
//
// The node that claimed a run need not be the one that hears of it: reports and heartbeats reach
// any node, and a user or the reaper may end it. So the store is asked whether an attempt goes on,
// when runs have ended (Hear), and before one is taken for silent.
// Owned by the server; AgentService and the agent polls call it. Thread-safe.
class AgentLimits {
  public:
    // All must outlive the object.
    AgentLimits(LimitTracker& book, store::Store& store, Clock& clock)
        : book_(book), store_(store), clock_(clock) {}

    // Sets the function that is called when a run may have room that had none. Set before the first
    // claim; called on the thread that released the room or brought a larger share, perhaps within
    // a Turn, so it must only wake a loop.
    void OnRoom(std::function<void()> ring) {
        book_.OnRoom(ring);
        ring_ = std::move(ring);
    }

    // Returns whether any limit applies to such a claim, or to a run of this type.
    bool Concern(const store::ClaimFilter& filter) const;
    bool Concern(const std::string& type) const;

    // Holds the claim lock from the check for room to the note of what was claimed: two claims at
    // once would take the same room. Meanwhile the room is not given to other nodes either.
    class Turn {
      public:
        explicit Turn(AgentLimits& limits);
        ~Turn();
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        // Narrows the claim to the room that is left beside the earlier claims of this turn.
        // Returns false if no room is left; the claim must not be made then.
        bool Narrow(store::ClaimParams& claim);
        // Counts the claimed runs toward their limits.
        void Note(const std::vector<model::Run>& taken, Duration lease);

      private:
        AgentLimits& limits_;
        const MutexLock lock_;
        std::map<std::string, std::size_t> promised_;  // by type
    };

    // Extends the time that the attempt counts, after a heartbeat. Does nothing for an unknown
    // exec_id.
    void Extend(const std::string& exec_id, Duration lease);
    // Stops counting the attempt, however it ended. Does nothing for an unknown exec_id.
    void Release(const std::string& exec_id);

    // Notes that runs have ended or are ready again, perhaps some that this node counts. Returns
    // whether that makes LookAt earlier. Does not block.
    bool Hear();
    // When Refresh has something to do; max(): not before something is claimed or heard.
    SteadyPoint LookAt() const;
    // Asks the store, if it is time for that, which of the counted attempts go on, and until when.
    // If the store fails, they count until it answers.
    void Refresh();

    // Returns when room may appear by itself: a token becomes available or a lease expires. max():
    // no claim was refused, or room appears only when an agent reports.
    SteadyPoint RoomAgainAt() const { return again_; }
    // Resets RoomAgainAt to max(), because the caller looks for room now.
    void ForgetRoomAgain() { again_ = SteadyPoint::max(); }

  private:
    struct Held {
        LimitTracker::Ticket ticket;
        std::string type;
        // When the attempt stops counting, unless it is extended or the store says otherwise.
        SteadyPoint until{};
    };
    // The attempts that go on, by exec_id, and until when.
    using Running = std::unordered_map<std::string, SteadyPoint>;

    void NoteSilence(SteadyPoint until) KSANA_REQUIRES(mutex_);
    bool AskStore();  // claiming_ is held
    Result<void> ReadRunning(const std::string& type, TimePoint now, Running& running) const;
    bool Apply(const Running& before, const Running& running);

    LimitTracker& book_;
    store::Store& store_;
    Clock& clock_;
    std::function<void()> ring_;
    // Held for a Turn.
    Mutex claiming_ KSANA_ACQUIRED_BEFORE(mutex_);
    std::atomic<SteadyPoint> again_{SteadyPoint::max()};
    std::atomic<bool> heard_{false};  // Hear was called since the last look
    // The store is not asked before: looks keep a distance.
    std::atomic<SteadyPoint> next_look_{SteadyPoint::min()};
    // A lower bound of every `until`; max(): nothing is counted. Changed under mutex_.
    std::atomic<SteadyPoint> first_silence_{SteadyPoint::max()};
    Mutex mutex_;
    std::unordered_map<std::string, Held> held_ KSANA_GUARDED_BY(mutex_);  // by exec_id
};

}  // namespace ksana::engine
