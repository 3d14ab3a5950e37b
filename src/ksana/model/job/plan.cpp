#include "ksana/model/job/plan.hpp"

#include <algorithm>

#include "ksana/base/error/check.hpp"
#include "ksana/schedule/schedule.hpp"

namespace ksana::model {
namespace {

using schedule::FireRange;
using schedule::Schedule;

constexpr Duration kTick{1};

// The algorithm of Plan, for one call. `cursor_` is the time up to which every fire is decided.
class Planner {
  public:
    Planner(const Schedule& schedule, const PlanInput& input)
        : schedule_(schedule), input_(input), cursor_(input.planned_until) {
        KSANA_CHECK(input.max_fires > 0, "a plan needs room for one fire");
    }

    PlanResult Run() {
        const TimePoint end =
            input_.paused ? input_.now : std::max(input_.now, input_.look_ahead_until);
        // After the clock was set back nothing is planned again: earlier decisions stand.
        if (end > cursor_) {
            if (input_.paused) {
                AddRange(FireFate::kSkippedPaused, RangeOf(cursor_, end));
                cursor_ = end;
            } else {
                PlanOldFires();
                PlanFreshFires(end);
            }
        }
        AddRange(FireFate::kSkippedCalendar, schedule_.Blocked(input_.planned_until, cursor_));
        result_.planned_until = cursor_;
        result_.next_fire = schedule_.Next(cursor_);
        return std::move(result_);
    }

  private:
    void AddRange(FireFate fate, const FireRange& range) {
        if (range.count > 0) result_.ranges.push_back({fate, range});
    }

    // Returns the count, first and last of the fires in (after, until].
    FireRange RangeOf(TimePoint after, TimePoint until) const {
        FireRange range;
        range.count = schedule_.Count(after, until);
        if (range.count == 0) return range;
        range.first = schedule_.Next(after).value_or(until);
        range.last = schedule_.Previous(until + kTick).value_or(until);
        return range;
    }

    bool Full() const { return result_.fires.size() >= input_.max_fires; }

    void Fire(TimePoint nominal, FireFate fate) {
        result_.fires.push_back({nominal, schedule_.WithJitter(input_.job_id, nominal), fate});
        cursor_ = nominal;
    }

    // Handles the fires that are later than the grace allows: they are missed, except for those
    // that the misfire policy catches up on.
    void PlanOldFires() {
        const TimePoint last_old = LastOldInstant();
        if (last_old <= cursor_) return;
        const TimePoint catch_up_after = CatchUpAfter(last_old);
        AddRange(FireFate::kMissed, RangeOf(cursor_, catch_up_after));
        cursor_ = std::max(cursor_, catch_up_after);
        for (auto next = schedule_.Next(cursor_); next && *next <= last_old;
             next = schedule_.Next(cursor_)) {
            if (Full()) {
                result_.more = true;
                return;
            }
            Fire(*next, FireFate::kCaughtUp);
        }
        cursor_ = last_old;
    }

    // Returns the last instant whose fires are too late. Lateness counts from the start time,
    // jitter included. Jitter never reaches the next fire, so only the last of these fires can
    // still be waiting for its start.
    TimePoint LastOldInstant() const {
        const TimePoint last_old = input_.now - input_.misfire.grace - kTick;
        const auto last_fire = schedule_.Previous(last_old + kTick);
        if (last_fire && schedule_.WithJitter(input_.job_id, *last_fire) > last_old) {
            return *last_fire - kTick;
        }
        return last_old;
    }

    // Returns the instant that splits the late fires: those up to it are missed, those after it are
    // caught up on.
    TimePoint CatchUpAfter(TimePoint last_old) const {
        std::int64_t wanted = 0;
        if (input_.misfire.policy == MisfirePolicy::kRunAll) {
            wanted = input_.misfire.max_runs;
        } else if (input_.misfire.policy == MisfirePolicy::kRunLatest) {
            // A fire within the grace is the latest one; then no older fire is caught up on.
            const auto fresh = schedule_.Next(last_old);
            wanted = fresh && *fresh <= input_.now ? 0 : 1;
        }
        TimePoint at = last_old + kTick;
        for (; wanted > 0; --wanted) {
            const auto earlier = schedule_.Previous(at);
            if (!earlier || *earlier <= cursor_) return cursor_;
            at = *earlier;
        }
        return at - kTick;
    }

    void PlanFreshFires(TimePoint end) {
        if (result_.more) return;
        for (auto next = schedule_.Next(cursor_); next && *next <= end;
             next = schedule_.Next(cursor_)) {
            if (Full()) {
                result_.more = true;
                return;
            }
            Fire(*next, FireFate::kOnTime);
        }
        cursor_ = end;
    }

    const Schedule& schedule_;
    const PlanInput& input_;
    TimePoint cursor_;
    PlanResult result_;
};

}  // namespace

PlanResult Plan(const Schedule& schedule, const PlanInput& input) {
    return Planner(schedule, input).Run();
}

}  // namespace ksana::model
