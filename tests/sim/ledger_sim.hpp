#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ksana::sim {

// Bugs to plant, to test that the checks find them.
enum class Plant : std::uint8_t {
    kNone,
    kLostFire,
    kDoubleFire,
    kMissingFence,
    kForgottenRetry,
    kLostCancel,
};

struct SimReport {
    std::optional<std::string> violation;  // what is wrong, and when
    std::int64_t simulated_hours = 0;
    std::int64_t fires = 0;
    std::int64_t attempts = 0;
};

// Runs a world from one seed: jobs with random schedules and policies; a planner that goes down, is
// paused, and whose wall clock jumps; owners that succeed, fail, die, hang, are cancelled, and
// report late or twice. The pure functions of model/ decide everything. After every step a naive
// ledger checks that each fire is accounted for once (by walking the schedule from fire to fire,
// which Plan never does), that no stale report is applied, that a cancelled run never starts again,
// and that every run ends.
SimReport RunLedgerSim(std::uint64_t seed, Plant plant);

}  // namespace ksana::sim
