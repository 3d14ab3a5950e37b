#pragma once

#include <span>
#include <vector>

#include "ksana/base/time/time.hpp"
#include "ksana/insight/simulate/sim_lane.hpp"
#include "ksana/insight/simulate/simulation.hpp"
#include "ksana/schedule/schedule.hpp"

namespace ksana::insight {

// A job with a valid schedule, and where its outcome is stored.
struct SimJob {
    schedule::Schedule schedule;
    SimJobOutcome* outcome;
};

using SimGroup = std::vector<std::size_t>;  // indexes of jobs that start at the same times

struct SlotsParams {
    std::span<const SimJob> jobs;
    std::span<const SimGroup> groups;  // every job is in exactly one
    TimePoint from;
    std::int64_t slots;
};

struct SlotsAnswer {
    SimWaits waits;
    bool complete = true;  // false: stopped early, because too many runs waited
};

// Simulates all jobs event by event with a limited number of slots. Runs without a slot wait in the
// order in which they became ready.
SlotsAnswer SimulateSlots(const SlotsParams& params, SimResults& books);

}  // namespace ksana::insight
