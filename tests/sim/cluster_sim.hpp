#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/sim_plant.hpp"
#include "sim/sim_totals.hpp"
#include "sim/sim_world.hpp"

namespace ksana::sim {

struct ClusterReport {
    std::optional<Violation> violation;
    std::vector<std::string> story;  // of the job concerned, when asked for
    std::uint64_t hash = 0;          // of everything that happened, in order
    ClusterTotals totals;
};

// Several nodes of the real engine on one store in memory, each behind its own faults, all from one
// seed. Nodes crash, hang, shut down and come back, their clocks are wrong and jump, notifications
// get lost, targets fail and hang, people change jobs; in a share of the worlds agents work on
// tasks, whose end is told by callbacks. Every commit is checked as it is made. Then all that ends,
// and everything must become final.
//
// `story_of`: the job or the task whose story is to be told.
ClusterReport RunClusterSim(std::uint64_t seed, ClusterPlant plant,
                            std::optional<std::string> story_of = {});

}  // namespace ksana::sim
