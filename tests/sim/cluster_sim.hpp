#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/sim_plant.hpp"
#include "sim/sim_world.hpp"

namespace ksana::sim {

// What happened in the worlds of one or more seeds.
struct ClusterTotals {
    std::int64_t nodes = 0;
    double hours = 0;  // simulated
    std::int64_t events = 0;
    std::int64_t steps = 0;  // of loops
    std::int64_t commits = 0;
    std::int64_t fires = 0;
    std::int64_t runs = 0;
    std::int64_t attempts = 0;
    std::int64_t lost = 0;        // attempts that were taken from their owner
    std::int64_t released = 0;    // attempts that a shutdown gave back
    std::int64_t deferred = 0;    // that a limit or a breaker held back
    std::int64_t fenced_out = 0;  // calls that came to the target after a later attempt's
    std::int64_t crashes = 0;
    std::int64_t pauses = 0;
    std::int64_t shutdowns = 0;
    std::int64_t clock_jumps = 0;
    std::int64_t faults = 0;  // of the store

    void Add(const ClusterTotals& other);
    std::string Describe() const;
};

struct ClusterReport {
    std::optional<Violation> violation;
    std::vector<std::string> story;  // of the job concerned, when asked for
    std::uint64_t hash = 0;          // of everything that happened, in order
    ClusterTotals totals;
};

// Several nodes of the real engine on one store in memory, each behind its own faults, all from one
// seed. Nodes crash, hang, shut down and come back, their clocks are wrong and jump, notifications
// get lost, targets fail and hang, people change jobs. Every commit is checked as it is made. Then
// all that ends, and everything must become final.
//
// `story_of`: the job whose story is to be told.
ClusterReport RunClusterSim(std::uint64_t seed, ClusterPlant plant,
                            std::optional<std::string> story_of = {});

}  // namespace ksana::sim
