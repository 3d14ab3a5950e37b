#pragma once

#include <string>
#include <string_view>

#include "ksana/base/time/time.hpp"
#include "ksana/schedule/cron/zoned_cron.hpp"
#include "ksana/schedule/zone/zone.hpp"

namespace ksana::schedule {

// An instant as people in a zone read it: "Sat 2025-03-08 02:30:00 EST", with the fraction of a
// second where there is one ("02:30:00.25 EST").
std::string LocalTimeText(const Zone& zone, TimePoint instant);

// What a change of the clocks had to do with a fire, as a remark: "moved: clocks skip its time that
// day". Empty for kNone.
std::string_view DstNoteText(DstNote note);

}  // namespace ksana::schedule
