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

// Holds attempts that wait for a used-up limit: one line per limit, in claim order, with a few
// seconds' worth of attempts. An attempt that finds no place, or that an open breaker blocks, is
// sent away: given back to the store with a later time. A line blocks only attempts that need the
// same limit. Not thread-safe: ActiveAttempts owns it and guards it with its mutex.
class LimitQueue {
  public:
    struct Admitted {
        AttemptPointer attempt;
        LimitTracker::Ticket ticket;
        bool waited = false;
    };
    struct GivenBack {
        AttemptPointer attempt;
        model::WaitCause cause;
        Duration after{};
    };
    struct AdmissionResult {
        std::vector<Admitted> admitted;
        std::vector<GivenBack> given_back;
        std::size_t room = 0;  // number of attempts that may still be admitted
    };

    // `limits` must outlive the queue.
    explicit LimitQueue(LimitTracker& limits) : limits_(limits) {}

    // Returns whether any limit or breaker is in force. If not, every attempt may start.
    bool active() const { return limits_.active() || !empty(); }
    // Returns whether the node's own rate is used up, so that no attempt may start.
    bool shut(SteadyPoint now) const { return limits_.NodeFreeAt() > now; }

    // Admits the waiting attempts that may start now. Must be called before Enter, so that waiting
    // attempts come first.
    void Advance(SteadyPoint now, AdmissionResult& admission);
    // Admits a new attempt, lets it wait, or sends it away. Requires admission.room > 0 and
    // !shut(now).
    void Enter(AttemptPointer attempt, SteadyPoint now, AdmissionResult& admission);

    // Returns when Advance may admit an attempt because time has passed; max(): not before an
    // attempt ends.
    SteadyPoint NextAt() const;

    // Removes the attempt from its line. Does nothing if it does not wait.
    void Remove(const ActiveAttempt& attempt);
    // Removes and returns all attempts, after a change of limits.
    std::vector<AttemptPointer> TakeAll();
    // Returns what the attempt waits for; nothing if it does not wait here.
    std::optional<model::WaitCause> CauseOf(const ActiveAttempt& attempt) const;

    bool empty() const { return places_.empty(); }
    std::size_t size() const { return places_.size(); }
    std::map<std::string, std::size_t> Lengths() const;  // of the lines, by limit key

  private:
    // Rank, run id and fence; the smallest goes first. Two attempts of one run may wait here if the
    // earlier one lost its lease.
    using Place = std::tuple<std::int64_t, Uuid, std::int64_t>;
    struct Waiter {
        AttemptPointer attempt;
        LimitSubject subject;
        bool breaker = false;
    };
    struct Line {
        std::map<Place, Waiter> waiters;
        // When the limit may admit the first attempt because time has passed; max(): unknown.
        SteadyPoint again = SteadyPoint::max();
    };
    using Lines = std::map<std::string, Line>;

    void Advance(const std::string& key, SteadyPoint now, AdmissionResult& admission);
    void Refuse(Waiter waiter, const LimitTracker::Answer& answer, SteadyPoint now,
                AdmissionResult& admission);
    Waiter Take(Lines::iterator line, std::map<Place, Waiter>::iterator waiter);
    void GiveBack(const Waiter& waiter, const std::string& key, SteadyPoint now,
                  AdmissionResult& admission);

    LimitTracker& limits_;
    Lines lines_;  // no line is empty
    // Line key and place, by exec_id.
    std::unordered_map<std::string_view, std::pair<std::string, Place>> places_;
};

}  // namespace ksana::engine
