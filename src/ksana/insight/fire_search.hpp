#pragma once

#include <cstdint>

#include "ksana/base/result.hpp"
#include "ksana/base/time.hpp"
#include "ksana/insight/explain_case.hpp"

namespace ksana::insight {

enum class FoundKind : std::uint8_t {
    kNone,      // no fire is near
    kAllowed,   // a fire of the schedule as it is now
    kBlocked,   // one that the calendar takes away
    kRecorded,  // none of the schedule as it is now, but it is on record
};

struct FoundFire {
    FoundKind kind = FoundKind::kNone;
    TimePoint at{};
};

// Which fire is meant by the time that was asked for.
Result<FoundFire> FindMeantFire(const ExplainCase& c);

}  // namespace ksana::insight
