#pragma once

#include <vector>

#include "ksana/base/time/time.hpp"
#include "ksana/insight/preview/preview.hpp"
#include "ksana/schedule/zone/zone.hpp"

namespace ksana::insight {

// Returns what a user should know before saving this schedule.
std::vector<PreviewWarning> WarningsOf(const Sources& sources, const schedule::Schedule& schedule,
                                       const schedule::Zone& zone, TimePoint from);

// A clock change of a zone.
struct ZoneChange {
    TimePoint at{};
    Duration by{};  // positive: put forward (a gap), negative: put back (a fold)
};

// Returns the changes in [from, until], at most `max`, in order.
std::vector<ZoneChange> ZoneChanges(const schedule::Zone& zone, TimePoint from, TimePoint until,
                                    std::size_t max);

}  // namespace ksana::insight
