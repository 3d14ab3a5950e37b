#pragma once

#include <span>
#include <vector>

#include "ksana/base/time.hpp"
#include "ksana/insight/sim_lane.hpp"
#include "ksana/insight/simulation.hpp"
#include "ksana/schedule/schedule.hpp"

namespace ksana::insight {

// A job that fires, and where its outcome goes.
struct SimJob {
    schedule::Schedule schedule;
    SimJobOutcome* outcome;
};

struct SlotsParams {
    TimePoint from;
    std::int64_t slots;
};

struct SlotsAnswer {
    SimWaits waits;
    bool complete = true;  // false: too much waited, and it was stopped
};

// All jobs together, event by event, where they have to share slots: what finds none waits in the
// order in which it became ready.
SlotsAnswer SimulateSlots(std::span<const SimJob> jobs, const SlotsParams& params, SimBooks& books);

}  // namespace ksana::insight
