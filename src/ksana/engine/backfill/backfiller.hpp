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

// Makes the runs of backfills, no faster than each was asked to. What it has done is in the store
// after every step, so it goes on where it was after a restart; a fire that is submitted twice,
// after a crash or by two nodes at once, becomes one run, as job and nominal time are unique. A
// loop of the engine: one thread, except Hint.
class Backfiller {
  public:
    // Runs of one backfill that wait or are under way; with more it waits.
    static constexpr std::int64_t kMaxUnfinished = 1'000;
    // Backfills that are not over, in the whole store.
    static constexpr std::size_t kMaxActive = 100;

    // What is given must outlive it.
    Backfiller(store::Store& store, FirePlans& plans, const Clock& clock)
        : store_(store), shelf_(store), plans_(plans), clock_(clock) {}

    Result<Step> RunOnce();
    // Whether a commit that touched these concerns it. Any thread.
    bool Hint(store::Topics topics) const;

  private:
    Result<void> Advance(const BackfillRepository::Mark& mark, TimePoint now, Step& step);
    Result<void> Go(BackfillRepository::Kept& kept, TimePoint now, Step& step);
    Result<void> Submit(BackfillRepository::Kept& kept, std::size_t most, TimePoint now);
    Result<void> GiveUp(const Uuid& id, const Error& error, TimePoint now);
    Result<void> End(BackfillRepository::Kept& kept, TimePoint now);
    Result<const std::vector<TimePoint>*> FiresOf(const model::Backfill& backfill);

    store::Store& store_;
    BackfillRepository shelf_;
    FirePlans& plans_;
    const Clock& clock_;
    std::map<Uuid, std::vector<TimePoint>> fires_;  // of those that go on
    bool waiting_ = false;                          // one of them waits for runs to end
    std::atomic<bool> awaits_runs_{false};
};

// Cancels the runs of a backfill that have not started.
Result<void> CancelUnstarted(store::RunStore& runs, const Uuid& backfill);
// As it is with its runs counted.
Result<model::Backfill> Counted(store::RunStore& runs, model::Backfill backfill);

}  // namespace ksana::engine
