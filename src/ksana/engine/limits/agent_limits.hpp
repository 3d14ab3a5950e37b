#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/limits/limits.hpp"
#include "ksana/store/run_store.hpp"

namespace ksana::engine {

// The limits of types for runs that agents take themselves. Who asks gets no more than there is
// room for; the rest stays in the queue, in its order, and nothing is used up. A run counts from
// its claim until it is reported on, given back, or its lease is over without a word. As all limits
// it holds for this node. Thread-safe.
class AgentLimits {
  public:
    // What is given must outlive it.
    AgentLimits(LimitTracker& book, Clock& clock) : book_(book), clock_(clock) {}

    // Rings when runs may have room that had none. Set before anybody claims.
    void OnRoom(std::function<void()> ring) { ring_ = std::move(ring); }

    // Whether a claim like this, or a run of this type, has to ask at all.
    bool Concern(const store::ClaimFilter& filter) const;
    bool Concern(const std::string& type) const;

    // From the question whether there is room to the note of what was taken: one claim at a time,
    // else two would take the same room.
    class Turn {
      public:
        explicit Turn(AgentLimits& limits);
        // Narrows the claim to what there is room for beside the claims before it. False: to
        // nothing.
        bool Narrow(store::ClaimParams& claim);
        void Note(const std::vector<model::Run>& taken, Duration lease);

      private:
        AgentLimits& limits_;
        const MutexLock lock_;
        std::map<std::string, std::size_t> promised_;  // by type
    };

    // The agent is heard of: its run counts for so much longer.
    void Extend(const std::string& exec_id, Duration lease);
    // It is over for this attempt, however it ended.
    void Release(const std::string& exec_id);

    // When there may be room without anybody's doing: a token comes, or a lease is over. max():
    // nobody was refused, or it is up to those who work.
    SteadyPoint RoomAgainAt() const { return again_; }
    // Somebody looks now.
    void ForgetRoomAgain() { again_ = SteadyPoint::max(); }

  private:
    struct Held {
        LimitTracker::Ticket ticket;
        SteadyPoint until{};
    };

    void DropSilent(SteadyPoint now);

    LimitTracker& book_;
    Clock& clock_;
    std::function<void()> ring_;
    Mutex claiming_ KSANA_ACQUIRED_BEFORE(mutex_);
    std::atomic<SteadyPoint> again_{SteadyPoint::max()};
    Mutex mutex_;
    std::unordered_map<std::string, Held> held_ KSANA_GUARDED_BY(mutex_);      // by exec_id
    SteadyPoint first_silence_ KSANA_GUARDED_BY(mutex_) = SteadyPoint::max();  // or before it
};

}  // namespace ksana::engine
