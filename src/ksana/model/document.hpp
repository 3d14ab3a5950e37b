#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ksana/base/time/time.hpp"

namespace ksana::model {

// A small thing kept by kind and key: a run type, a worker, a lock, a calendar, a setting. What is
// asked for in other ways than by key has a table of its own instead.
struct Document {
    std::string kind;
    std::string key;
    std::int64_t version = 0;  // grows with every write
    std::string body;          // JSON
    TimePoint updated_at{};
    std::optional<TimePoint> expires_at;  // from then on it is not there
    friend bool operator==(const Document&, const Document&) = default;
};

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
