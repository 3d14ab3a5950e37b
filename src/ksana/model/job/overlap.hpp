#pragma once

#include <cstdint>

#include "ksana/model/job/policy.hpp"

namespace ksana::model {

// What to do with a run about to start while its job has unfinished runs.
enum class OverlapVerdict : std::uint8_t { kStart, kSkip, kQueue, kCancelOthers };

// The most runs of one job that may be queued behind each other; further fires are skipped.
inline constexpr int kMaxQueuedRuns = 1000;

// Returns whether a new fire must be skipped because its job already has too many unfinished runs
// (started or not). Bounds the backlog of a job even while none of its runs has started.
bool ExceedsQueueLimit(OverlapPolicy policy, int unfinished);

// Decides about a run whose job has `running` started runs and `waiting` runs blocked behind them.
OverlapVerdict DecideOverlap(OverlapPolicy policy, int running, int waiting);

}  // namespace ksana::model
