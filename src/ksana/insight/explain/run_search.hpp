#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/insight/explain/explanation.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/model/run/wait_cause.hpp"
#include "ksana/store/store.hpp"

namespace ksana::insight {

// Looks among the runs of a job for those that have to do with one of them. Each question reads a
// bounded number of runs; what retention has deleted is not found.

// The run that was in the way of `run` at a time: under way, or at least made and not over.
Result<std::optional<RelatedRun>> FindInTheWay(store::Store& store, const model::Run& run,
                                               TimePoint at);

// The later fire that had `run` cancelled, by the overlap policy.
Result<std::optional<RelatedRun>> FindCanceller(store::Store& store, const model::Run& run);

// The run whose end `run` waited for between two times.
Result<std::optional<RelatedRun>> FindAwaited(store::Store& store, const model::Run& run,
                                              TimePoint from, TimePoint until);

// What keeps a run from starting, while it waits for a limit or for a target that is down.
std::optional<model::WaitCause> CauseOf(const model::Run& run);
// Whether its last attempt has not begun because of that.
bool IsHeldBack(const model::Run& run);

// When the first attempt of a run started, if it has.
Result<std::optional<TimePoint>> FirstStart(store::Store& store, const model::Run& run);

}  // namespace ksana::insight
