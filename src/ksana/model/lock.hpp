#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ksana/base/time.hpp"

namespace ksana::model {

// Who holds a named lock, and until when (none: nobody). The fence grows with every acquisition,
// over release and expiry.
struct Lock {
    std::string name;
    std::string owner;
    std::int64_t fence = 0;
    std::optional<TimePoint> until;
    friend bool operator==(const Lock&, const Lock&) = default;
};

}  // namespace ksana::model
