#pragma once

#include <cstdint>

#include "ksana/model/job/policy.hpp"

namespace ksana::model {

// What a fire does about the unfinished runs of its job.
enum class OverlapVerdict : std::uint8_t { kStart, kSkip, kQueue, kCancelOthers };

// Runs of one job that may wait for each other under kQueueAll; further ones are skipped.
inline constexpr int kMaxQueuedRuns = 1000;

// Whether a fire is one too many for its job, `unfinished` runs of which have not ended, started or
// not: it is then skipped although nothing is under way yet, so that what waits stays bounded.
bool IsOneTooMany(OverlapPolicy policy, int unfinished);

// `running` runs of the job are under way, `waiting` ones wait for their end.
OverlapVerdict DecideOverlap(OverlapPolicy policy, int running, int waiting);

}  // namespace ksana::model
