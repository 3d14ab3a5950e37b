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

// Whether runs of a backfill may be under way together.
enum class BackfillOverlap : std::uint8_t { kAllow, kQueue };

// Fires of the past that somebody wants to have runs now. The runs have the backfill's id as their
// parent.
struct Backfill {
    Uuid id;
    std::string job_id;
    std::string tenant;
    TimePoint from{};  // fires at or after
    TimePoint to{};    // and before
    BackfillState state = BackfillState::kRunning;
    BackfillOverlap overlap = BackfillOverlap::kQueue;
    std::int64_t count = 0;      // fires
    std::int64_t next = 0;       // the first of them that nobody has looked at yet
    std::int64_t submitted = 0;  // became runs
    std::int64_t skipped = 0;    // had a run already
    std::int64_t succeeded = 0;  // these two once it is over; until then the runs are counted
    std::int64_t failed = 0;
    std::int32_t per_minute = 0;
    std::string parameters;  // JSON object in the place of the payload; empty: none
    std::string error;       // why it ended before its time, where nobody cancelled it
    TimePoint due_at{};      // no run is made before
    bool swept = false;      // cancelled: what had not started has been cancelled, too
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
