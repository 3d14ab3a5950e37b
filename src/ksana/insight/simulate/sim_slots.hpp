#pragma once

#include <span>
#include <vector>

#include "ksana/base/time/time.hpp"
#include "ksana/insight/simulate/sim_lane.hpp"
#include "ksana/insight/simulate/simulation.hpp"
#include "ksana/schedule/schedule.hpp"

namespace ksana::insight {

// A job that fires, and where its outcome goes.
struct SimJob {
    schedule::Schedule schedule;
    SimJobOutcome* outcome;
};

using SimGroup = std::vector<std::size_t>;  // places of jobs that start at the same times

struct SlotsParams {
    std::span<const SimJob> jobs;
    std::span<const SimGroup> groups;  // each job is in one
    TimePoint from;
    std::int64_t slots;
};

struct SlotsAnswer {
    SimWaits waits;
    bool complete = true;  // false: too much waited, and it was stopped
};

// All jobs together, event by event, where they have to share slots: what finds none waits in the
// order in which it became ready.
SlotsAnswer SimulateSlots(const SlotsParams& params, SimBooks& books);

}  // namespace ksana::insight
