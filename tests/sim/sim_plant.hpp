#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "ksana/store/store.hpp"
#include "sim/sim_backend.hpp"
#include "sim/sim_world.hpp"

namespace ksana::sim {

// Bugs that are planted to test that the checks find them. All are in decorators: the tested code
// stays as it is.
enum class ClusterPlant : std::uint8_t {
    kNone,
    kLostUpdate,        // a report is acknowledged but not written
    kDoubleFire,        // a fire is written a second time, under a nearby nominal time
    kMissingFence,      // a report is applied to any attempt that is under way
    kForgottenRetry,    // some runs that have failed once are never claimed again
    kNoLimits,          // nodes do not learn of limits
    kLostCallback,      // some ends that want a callback get none
    kUnfencedAgent,     // an agent's report is applied to any attempt of the task that is under way
    kEarlyHandOver,     // runs are taken from their owners before lease and deadline expire
    kDoubleKey,         // some tasks get a unique key that another one holds
    kLoneShares,        // nodes do not learn of the shares that others hold of a limit
    kLostRelease,       // some runs that waited for other jobs are never released
    kDoubleRelease,     // some runs do not wait for the jobs they depend on
    kForgottenJoin,     // some ends that a join waits for are not noted
    kForgottenOrphan,   // runs of lost workers are left to their leases
    kEarlyDispatch,     // a task is noted as published although the broker has not confirmed it
    kNoSweep,           // nobody notices that the broker has lost its queues
    kUnfencedConsumer,  // a consumer's report is applied to any attempt that is under way
    kBlindLimits,       // nodes do not see that what they have published goes on
};

// Returns the bug named "lost_update" and so on; nothing for an unknown name.
std::optional<ClusterPlant> PlantOf(std::string_view name);

// Returns the store as the nodes see it. All arguments must outlive it.
std::unique_ptr<store::Store> PlantInStore(World& world, store::Store& inner, ClusterPlant plant);
BackendBugs PlantInBackend(World& world, ClusterPlant plant);

}  // namespace ksana::sim
