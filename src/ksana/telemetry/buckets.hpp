#pragma once

#include <vector>

namespace ksana::telemetry {

// Upper bounds in seconds; what lies above the last one is counted under +Inf.

// How late something began: 1 ms … 60 s, finest where the promises are (2, 10 and 50 ms).
std::vector<double> LatenessBuckets();

// How long something took: 5 ms … 10 min.
std::vector<double> DurationBuckets();

}  // namespace ksana::telemetry
