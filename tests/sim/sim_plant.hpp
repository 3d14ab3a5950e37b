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
};

// "lost_update" and so on; nothing for another word.
std::optional<ClusterPlant> PlantOf(std::string_view name);

// The store as the nodes see it. All arguments must outlive it.
std::unique_ptr<store::Store> PlantInStore(World& world, store::Store& inner, ClusterPlant plant);
IsForgotten PlantInClaims(ClusterPlant plant);

}  // namespace ksana::sim
