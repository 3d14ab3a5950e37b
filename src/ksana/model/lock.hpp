#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ksana/base/time.hpp"

namespace ksana::model {

// Who holds a named lock. The fence grows with every acquisition, over release and expiry, so that
// the target can tell a holder from one that lost the lock without noticing.
struct Lock {
    std::string name;
    std::string owner;
    std::int64_t fence = 0;
    std::optional<TimePoint> until;  // none: nobody holds it

    friend bool operator==(const Lock&, const Lock&) = default;
};

}  // namespace ksana::model
