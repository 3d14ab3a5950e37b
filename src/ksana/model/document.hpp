#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ksana/base/time/time.hpp"

namespace ksana::model {

// A small JSON record addressed by kind and key: a run type, a worker, a lock, a calendar, a
// setting. Records that need queries by anything other than the key have a table of their own.
struct Document {
    std::string kind;
    std::string key;
    std::int64_t version = 0;  // incremented by every write
    std::string body;          // JSON
    TimePoint updated_at{};
    // The document counts as absent from this time on; none: never.
    std::optional<TimePoint> expires_at;
    friend bool operator==(const Document&, const Document&) = default;
};

// A named lock: its owner, and the end of its lease (`until`; none: the lock is free). The fence
// grows with every acquisition, across releases and expiries. `stamp` is the largest number that an
// acquisition brought with it (lock/lock_driver.hpp); it stays too.
struct Lock {
    std::string name;
    std::string owner;
    std::int64_t fence = 0;
    std::optional<TimePoint> until;
    std::optional<std::int64_t> stamp;
    friend bool operator==(const Lock&, const Lock&) = default;
};

}  // namespace ksana::model
