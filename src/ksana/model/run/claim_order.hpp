#pragma once

#include <cstdint>

#include "ksana/base/time/time.hpp"

namespace ksana::model {

// One step of priority is worth this much waiting: a run that has waited longer than the steps
// between it and a newcomer goes first, so nothing starves.
inline constexpr Duration kAgeingStep = std::chrono::minutes(10);

// Runs are claimed by ascending rank, then by id. It depends on nothing that changes while a run
// waits, so that an index can hold it.
constexpr std::int64_t ClaimRank(TimePoint ready_at, std::int32_t priority) {
    return (ready_at.time_since_epoch() - priority * kAgeingStep).count();
}

}  // namespace ksana::model
