#pragma once

#include <string>
#include <string_view>

#include "ksana/base/time/time.hpp"
#include "ksana/schedule/cron/zoned_cron.hpp"
#include "ksana/schedule/zone/zone.hpp"

namespace ksana::schedule {

// Formats an instant in a zone's local time: "Sat 2025-03-08 02:30:00 EST", with decimals only if
// the second has a fraction ("02:30:00.25 EST").
std::string LocalTimeText(const Zone& zone, TimePoint instant);

// Returns a remark on how a change of the clocks affected a fire: "moved: clocks skip its time that
// day". Empty for kNone.
std::string_view DstNoteText(DstNote note);

}  // namespace ksana::schedule
