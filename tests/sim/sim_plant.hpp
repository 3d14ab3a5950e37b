#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "ksana/store/store.hpp"
#include "sim/sim_backend.hpp"
#include "sim/sim_world.hpp"

namespace ksana::sim {

// Bugs that are planted to see that the checks find them. All are in decorators: the code that is
// tested stays as it is.
enum class ClusterPlant : std::uint8_t {
    kNone,
    kLostUpdate,      // a report is acknowledged and not written
    kDoubleFire,      // a fire is written a second time, under a nominal time beside its own
    kMissingFence,    // a report counts for whatever attempt is under way
    kForgottenRetry,  // some runs that have failed once are never claimed again
    kNoLimits,        // nodes do not learn of limits
    kLostCallback,    // some ends that were to be told are told to nobody
    kUnfencedAgent,   // a report of an agent counts for whatever attempt of the task is under way
    kEarlyHandOver,   // runs are taken from their owners before leases and deadlines are over
    kDoubleKey,       // some tasks get a unique key that another one holds
};

// "lost_update" and so on; nothing for another word.
std::optional<ClusterPlant> PlantOf(std::string_view name);

// The store as the nodes see it. All arguments must outlive it.
std::unique_ptr<store::Store> PlantInStore(World& world, store::Store& inner, ClusterPlant plant);
BackendBugs PlantInBackend(World& world, ClusterPlant plant);

}  // namespace ksana::sim
