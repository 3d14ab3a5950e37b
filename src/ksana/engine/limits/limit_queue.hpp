#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/engine/dispatch/executor.hpp"
#include "ksana/engine/limits/limits.hpp"
#include "ksana/model/run/wait_cause.hpp"

namespace ksana::engine {

// An attempt to be handed to the executor. A task is large, and goes through several hands.
struct Departure {
    std::unique_ptr<Task> task;
    SteadyPoint due{};
};

// Where attempts wait whose limit is used up: a line for each limit, in the order in which runs are
// claimed, and of a few seconds' length; who finds no place, or would wait for a breaker, is sent
// away. A line stands in nobody's way but of those that need the same limit. Not thread-safe.
class LimitQueue {
  public:
    struct Admitted {
        Departure departure;
        LimitTracker::Ticket ticket;
        bool waited = false;
    };
    struct SentAway {
        std::string exec_id;
        model::WaitCause cause;
        Duration after{};
    };
    struct Passage {
        std::vector<Admitted> admitted;
        std::vector<SentAway> sent_away;
        std::size_t room = 0;  // so many may still be admitted
    };

    // The limits must outlive it.
    explicit LimitQueue(LimitTracker& limits) : limits_(limits) {}

    // Whether it has anything to do; else whoever comes may go on.
    bool active() const { return limits_.active() || !empty(); }
    // Nobody at all may go on: the node's own rate is used up.
    bool shut(SteadyPoint now) const { return limits_.NodeFreeAt() > now; }

    // Those who wait and may go on by now. Comes before Enter: who waits is first.
    void Advance(SteadyPoint now, Passage& passage);
    // Somebody new. There must be room, and the gate not shut.
    void Enter(Departure departure, SteadyPoint now, Passage& passage);

    // When Advance may have somebody because time has passed; max(): not before something ends.
    SteadyPoint NextAt() const;

    // Does not wait any more.
    void Remove(const std::string& exec_id);
    // Everybody: limits have changed.
    std::vector<Departure> TakeAll();
    // What one of them waits for; nothing for others.
    std::optional<model::WaitCause> CauseOf(const std::string& exec_id) const;

    bool empty() const { return places_.empty(); }
    std::size_t size() const { return places_.size(); }
    std::map<std::string, std::size_t> Lengths() const;  // of the lines, by the limit's key

  private:
    // Rank, run and fence; the least is first. Two attempts of a run may be here when the lease of
    // the earlier one was lost.
    using Place = std::tuple<std::int64_t, Uuid, std::int64_t>;
    struct Waiter {
        Departure departure;
        LimitSubject subject;
        bool breaker = false;
    };
    struct Line {
        std::map<Place, Waiter> waiters;
        SteadyPoint again = SteadyPoint::max();
    };
    using Lines = std::map<std::string, Line>;

    void Advance(const std::string& key, SteadyPoint now, Passage& passage);
    void Refuse(Waiter waiter, const LimitTracker::Answer& answer, SteadyPoint now,
                Passage& passage);
    Waiter Take(Lines::iterator line, std::map<Place, Waiter>::iterator waiter);
    void SendAway(const Waiter& waiter, const std::string& key, SteadyPoint now, Passage& passage);

    LimitTracker& limits_;
    Lines lines_;                                                            // none is empty
    std::unordered_map<std::string, std::pair<std::string, Place>> places_;  // by exec_id
};

}  // namespace ksana::engine
