#pragma once

#include <functional>
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

// What a job has to do with others; jobs are named by their index. Runs of a simulation succeed.
struct SimLinks {
    std::vector<std::size_t> followers;   // jobs that fire after it
    std::vector<std::size_t> follows;     // the jobs after which it fires; empty: it has times
    bool each = false;                    // each end of `follows` makes a fire, not only all
    std::vector<std::size_t> waits_for;   // depends_on
    std::vector<std::size_t> dependants;  // whose waits_for names it
    Duration max_wait{};
};

using SimGroup = std::vector<std::size_t>;  // indexes of jobs that start at the same times

struct SlotsParams {
    std::span<const SimJob> jobs;
    std::span<const SimGroup> groups;  // every job is in exactly one
    TimePoint from;
    std::int64_t slots;
    std::span<const SimLinks> links = {};  // one per job, or none at all
    std::int64_t max_fires = 0;            // stops after so many; 0: no limit
    std::function<bool()> stopped = {};    // asked now and then; may be empty
};

struct SlotsAnswer {
    SimWaits waits;
    bool complete =
        true;  // false: stopped early, because too many runs waited or fired, or `stopped`
};

// Simulates all jobs event by event with a limited number of slots. Runs without a slot wait in the
// order in which they became ready, and runs that depend on other jobs wait for these.
SlotsAnswer SimulateSlots(const SlotsParams& params, SimResults& books);

}  // namespace ksana::insight
