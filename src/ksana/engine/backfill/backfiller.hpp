#pragma once

#include <atomic>
#include <map>
#include <vector>

#include "ksana/base/time/clock.hpp"
#include "ksana/engine/backfill/backfill_repository.hpp"
#include "ksana/engine/loop.hpp"
#include "ksana/engine/plan/fire_plans.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// Makes the runs of backfills, each no faster than its rate. Its progress is stored after every
// step, so it continues after a restart. A fire that is submitted twice, after a crash or by two
// nodes at once, becomes one run, because job and nominal time are unique. Owned by Node. One
// thread, except Hint. Returns the store's error; a backfill that cannot continue is cancelled with
// its error.
class Backfiller {
  public:
    // Unfinished runs of one backfill at which it pauses.
    static constexpr std::int64_t kMaxUnfinished = 1'000;
    // The most active backfills in a store.
    static constexpr std::size_t kMaxActive = 100;

    // Everything passed by reference must outlive the object.
    Backfiller(store::Store& store, FirePlans& plans, const Clock& clock)
        : store_(store), repository_(store), plans_(plans), clock_(clock) {}

    Result<Step> RunOnce();
    // Returns whether a commit with these topics requires RunOnce. Any thread.
    bool Hint(store::Topics topics) const;

  private:
    Result<void> Advance(const BackfillRepository::Mark& mark, TimePoint now, Step& step);
    Result<void> Go(BackfillRepository::Kept& kept, TimePoint now, Step& step);
    Result<void> Submit(BackfillRepository::Kept& kept, std::size_t most, TimePoint now);
    Result<void> GiveUp(const Uuid& id, const Error& error, TimePoint now);
    Result<void> End(BackfillRepository::Kept& kept, TimePoint now);
    Result<const std::vector<TimePoint>*> FiresOf(const model::Backfill& backfill);

    store::Store& store_;
    BackfillRepository repository_;
    FirePlans& plans_;
    const Clock& clock_;
    std::map<Uuid, std::vector<TimePoint>> fires_;  // of active backfills
    bool waiting_ = false;                          // a backfill waits for runs to end
    std::atomic<bool> awaits_runs_{false};
};

// Cancels the runs of a backfill that have not started. Returns the store's error.
Result<void> CancelUnstarted(store::RunStore& runs, const Uuid& backfill);
// Returns the backfill with its succeeded and failed runs counted in the store. A finished one is
// returned as stored.
Result<model::Backfill> Counted(store::RunStore& runs, model::Backfill backfill);

}  // namespace ksana::engine
