#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/engine/dispatch/attempt.hpp"
#include "ksana/engine/limits/limits.hpp"
#include "ksana/model/run/wait_cause.hpp"

namespace ksana::engine {

// Where attempts wait whose limit is used up: a line for each limit, in the order in which runs are
// claimed, and of a few seconds' length. An attempt that finds no place, or would wait for a
// breaker, is sent away. A line holds up only attempts that need the same limit. Owned by
// ActiveAttempts and guarded by its mutex.
class LimitQueue {
  public:
    struct Admitted {
        AttemptPointer attempt;
        LimitTracker::Ticket ticket;
        bool waited = false;
    };
    struct SentAway {
        AttemptPointer attempt;
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

    // Whether it has anything to do; else every attempt may go on.
    bool active() const { return limits_.active() || !empty(); }
    // No attempt may go on: the node's own rate is used up.
    bool shut(SteadyPoint now) const { return limits_.NodeFreeAt() > now; }

    // Those that wait and may go on by now. Comes before Enter: what waits is first.
    void Advance(SteadyPoint now, Passage& passage);
    // A new attempt. There must be room, and the queue must not be shut.
    void Enter(AttemptPointer attempt, SteadyPoint now, Passage& passage);

    // When Advance may admit one because time has passed; max(): not before an attempt ends.
    SteadyPoint NextAt() const;

    // The attempt does not wait any more.
    void Remove(const ActiveAttempt& attempt);
    // All of them: limits have changed.
    std::vector<AttemptPointer> TakeAll();
    // What one of them waits for; nothing for others.
    std::optional<model::WaitCause> CauseOf(const ActiveAttempt& attempt) const;

    bool empty() const { return places_.empty(); }
    std::size_t size() const { return places_.size(); }
    std::map<std::string, std::size_t> Lengths() const;  // of the lines, by the limit's key

  private:
    // Rank, run and fence; the least is first. Two attempts of a run may be here when the lease of
    // the earlier one was lost.
    using Place = std::tuple<std::int64_t, Uuid, std::int64_t>;
    struct Waiter {
        AttemptPointer attempt;
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
    Lines lines_;                                                                 // none is empty
    std::unordered_map<std::string_view, std::pair<std::string, Place>> places_;  // by exec_id
};

}  // namespace ksana::engine
