#pragma once

#include <vector>

#include "ksana/insight/preview.hpp"
#include "ksana/schedule/zone.hpp"

namespace ksana::insight {

// What a person should know before this schedule is saved.
std::vector<PreviewWarning> WarningsOf(const Sources& sources, const schedule::Schedule& schedule,
                                       const schedule::Zone& zone, TimePoint from);

}  // namespace ksana::insight
