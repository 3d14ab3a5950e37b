#pragma once

#include <span>
#include <string>
#include <unordered_map>

#include "ksana/base/result.hpp"
#include "ksana/base/time.hpp"
#include "ksana/model/job.hpp"
#include "ksana/store/store.hpp"

namespace ksana::insight {

using SimDurations = std::unordered_map<std::string, Duration>;  // by job id

// Adds how long the runs of each job take: the median of what has ended lately. First from the
// latest runs of all jobs together; jobs that are not among them are asked for one by one, so far
// as that stays bounded. A job without ended runs is left out.
Result<void> MeasureDurations(store::Store& store, std::span<const model::Job> jobs,
                              SimDurations& measured);

}  // namespace ksana::insight
