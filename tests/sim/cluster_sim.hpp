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
    std::vector<std::string> story;  // of the job concerned, if requested
    std::uint64_t hash = 0;          // of everything that happened, in order
    ClusterTotals totals;
};

// Runs several nodes of the real engine on one memory store, each behind its own faults, all from
// one seed. Nodes crash, hang, shut down and restart; their clocks are wrong and jump;
// notifications get lost; targets fail and hang; users change jobs. In a share of the worlds agents
// work on tasks, whose end is reported by callbacks. Every commit is checked. Then the faults end,
// and everything must become final.
//
// `story_of` names the job or task whose story is recorded.
ClusterReport RunClusterSim(std::uint64_t seed, ClusterPlant plant,
                            std::optional<std::string> story_of = {});

}  // namespace ksana::sim
