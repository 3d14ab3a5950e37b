#pragma once

#include <cstdint>
#include <string>

#include "ksana/base/time.hpp"
#include "ksana/model/plan.hpp"

namespace ksana::model {

// Fires of a job that made no run, as one entry however many they are. Together with the runs that
// have a nominal time these are all the fires there were.
struct LedgerEntry {
    std::int64_t seq = 0;  // given by the store; grows
    std::string job_id;
    LedgerRange range;
    TimePoint recorded_at{};
    friend bool operator==(const LedgerEntry&, const LedgerEntry&) = default;
};

}  // namespace ksana::model
