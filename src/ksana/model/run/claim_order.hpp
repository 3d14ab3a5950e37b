#pragma once

#include <cstdint>

#include "ksana/base/time/time.hpp"

namespace ksana::model {

// The waiting time that outweighs one step of priority. A run that has waited longer than its
// distance in priority to a newer run is claimed first, so no run starves.
inline constexpr Duration kAgeingStep = std::chrono::minutes(10);

// Returns the rank of a waiting run. Runs are claimed by ascending rank, then by id. The rank
// depends on nothing that changes while a run waits, so an index can hold it.
constexpr std::int64_t ClaimRank(TimePoint ready_at, std::int32_t priority) {
    return (ready_at.time_since_epoch() - priority * kAgeingStep).count();
}

}  // namespace ksana::model
