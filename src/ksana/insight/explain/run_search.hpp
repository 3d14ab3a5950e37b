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

// Searches the runs of a job for those that affected one of them. Each function reads a bounded
// number of runs; runs deleted by retention are not found.

// Finds the run that blocked `run` at a time: one that had started, or at least existed, and had
// not ended.
Result<std::optional<RelatedRun>> FindBlockingRun(store::Store& store, const model::Run& run,
                                                  TimePoint at);

// Finds the run of the later fire that cancelled `run` because of the overlap policy.
Result<std::optional<RelatedRun>> FindCanceller(store::Store& store, const model::Run& run);

// Finds the run that `run` waited for between two times.
Result<std::optional<RelatedRun>> FindAwaited(store::Store& store, const model::Run& run,
                                              TimePoint from, TimePoint until);

// Returns the limit or breaker that keeps a run from starting; nullopt if there is none.
std::optional<model::WaitCause> CauseOf(const model::Run& run);
// Returns whether the last attempt has not begun because of a limit or a breaker.
bool IsHeldBack(const model::Run& run);

// Returns when the first attempt of a run started; nullopt if none has.
Result<std::optional<TimePoint>> FirstStart(store::Store& store, const model::Run& run);

}  // namespace ksana::insight
