#pragma once

#include <span>
#include <vector>

#include "ksana/base/time/time.hpp"
#include "ksana/insight/simulate/sim_lane.hpp"
#include "ksana/insight/simulate/sim_slots.hpp"
#include "ksana/insight/sources.hpp"

namespace ksana::insight {

struct SlotsWish {
    TimePoint from{};
    std::int64_t slots = 0;
    std::span<const SimLinks> links;
    std::int64_t max_fires = 0;
};

// Groups jobs that fire at the same times, so that the fires of each schedule are computed once:
// thousands of jobs have a few dozen schedules. For one thread.
class SimGroups {
  public:
    // The arguments must outlive the object.
    SimGroups(std::span<const SimJob> jobs, const Sources& sources);

    // Simulates unlimited slots: one group after the other. Fails if it is stopped.
    Result<void> Simulate(TimePoint from, SimResults& books) const;

    // Simulates limited slots. Groups jobs by equal starts here, so a job with jitter is a group of
    // its own. `links` has one element per job, or none at all.
    Result<SlotsAnswer> SimulateSlots(const SlotsWish& wish, SimResults& books) const;

    // Adds the fires removed by calendars and those affected by clock changes, for every job.
    void AddNotes(TimePoint from, SimResults& books) const;

  private:
    Result<void> SimulateGroup(const SimGroup& group, TimePoint from, SimResults& books) const;
    void AddDstNotes(const SimGroup& group, TimePoint from, SimResults& books) const;

    std::span<const SimJob> jobs_;
    const Sources& sources_;
    std::vector<SimGroup> groups_;
};

}  // namespace ksana::insight
