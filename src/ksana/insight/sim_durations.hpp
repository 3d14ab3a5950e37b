#pragma once

#include <span>
#include <string>
#include <unordered_map>

#include "ksana/base/result.hpp"
#include "ksana/base/time.hpp"
#include "ksana/model/job.hpp"
#include "ksana/store/store.hpp"

namespace ksana::insight {

// How long the runs of each job take: the median of what has ended lately. First from the latest
// runs of all jobs together; jobs that are not among them are asked for one by one, so far as that
// stays bounded. A job without ended runs is not in the answer.
Result<std::unordered_map<std::string, Duration>> MeasuredDurations(
    store::Store& store, std::span<const model::Job> jobs);

}  // namespace ksana::insight
