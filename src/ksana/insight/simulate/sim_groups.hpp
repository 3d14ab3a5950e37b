#pragma once

#include <span>
#include <vector>

#include "ksana/base/time/time.hpp"
#include "ksana/insight/simulate/sim_lane.hpp"
#include "ksana/insight/simulate/sim_slots.hpp"
#include "ksana/schedule/zone/zone_database.hpp"

namespace ksana::insight {

// Jobs that fire at the same times: thousands of jobs have a few dozen schedules, and each is asked
// for its fires once.
class SimGroups {
  public:
    // What is given must outlive it.
    SimGroups(std::span<const SimJob> jobs, schedule::ZoneDatabase& zones);

    // Where slots are not limited: one group after the other.
    void Simulate(TimePoint from, SimBooks& books) const;

    // Where they are: by the same starts, so that a job with jitter stands alone.
    SlotsAnswer SimulateSlots(TimePoint from, std::int64_t slots, SimBooks& books) const;

    // What the calendar takes away and what clocks do, for every job.
    void AddNotes(TimePoint from, SimBooks& books) const;

  private:
    void SimulateGroup(const SimGroup& group, TimePoint from, SimBooks& books) const;
    void AddDstNotes(const SimGroup& group, TimePoint from, SimBooks& books) const;

    std::span<const SimJob> jobs_;
    schedule::ZoneDatabase& zones_;
    std::vector<SimGroup> groups_;
};

}  // namespace ksana::insight
