#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/enum_names.hpp"

namespace ksana::model {

enum class BackfillState : std::uint8_t { kRunning, kFinished, kCancelled };

// Whether runs of the same backfill may be under way at the same time.
enum class BackfillOverlap : std::uint8_t { kAllow, kQueue };

// A user's request to make runs for fires of the past. The runs carry the backfill's id as their
// `parent`.
struct Backfill {
    Uuid id;
    std::string job_id;
    std::string tenant;
    // The fires in [from, to).
    TimePoint from{};
    TimePoint to{};
    BackfillState state = BackfillState::kRunning;
    BackfillOverlap overlap = BackfillOverlap::kQueue;
    std::int64_t count = 0;      // fires in the range
    std::int64_t next = 0;       // index of the first fire not yet processed
    std::int64_t submitted = 0;  // fires that became runs
    std::int64_t skipped = 0;    // fires that already had a run
    // Stored only when the backfill finishes. Until then (and after a cancel) they are counted from
    // the runs on request.
    std::int64_t succeeded = 0;
    std::int64_t failed = 0;
    std::int32_t per_minute = 0;
    std::string parameters;  // JSON object, the payload of the runs; empty: the job's own payload
    // Why the server ended it early; empty if it finished or a user cancelled it.
    std::string error;
    TimePoint due_at{};  // the next run is not made before this time
    bool swept = false;  // after a cancel: its unstarted runs have been cancelled, too
    std::optional<TimePoint> ended_at;
    TimePoint created_at{};
    std::string created_by;
    friend bool operator==(const Backfill&, const Backfill&) = default;
};

template <>
struct EnumNames<BackfillState> {
    static constexpr std::array<std::string_view, 3> kNames = {"running", "finished", "cancelled"};
};
template <>
struct EnumNames<BackfillOverlap> {
    static constexpr std::array<std::string_view, 2> kNames = {"allow", "queue"};
};

}  // namespace ksana::model
