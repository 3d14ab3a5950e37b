#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/enum_names.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/store/page.hpp"

namespace ksana::store {

// All that is set must hold. Empty text, no value: anything.
struct RunFilter {
    model::RunStates states = model::kAllStates;
    std::string tenant;
    std::string job_id;
    std::string type;
    std::string category;
    std::string creator;
    std::string owner;  // of the current or last attempt
    std::optional<model::ActionKind> kind;
    std::optional<model::RunTrigger> trigger;
    std::optional<Uuid> parent;
    std::optional<TimePoint> finished_from;   // at or after
    std::optional<TimePoint> finished_until;  // before
    std::string text;                         // in type, category, creator, job id and last error
};

enum class RunSort : std::uint8_t {
    kId,        // by the time they were made
    kReady,     // by ready_at: what comes next; only runs that are not over
    kFinished,  // by finished_at; only final runs
};

struct RunQuery {
    RunFilter filter;
    RunSort sort = RunSort::kId;
    bool descending = true;
    std::size_t limit = kDefaultPageSize;
    std::string cursor;
    // A filter that no index knows may have to look at many rows before it has found a page full.
    // After so many (about) the page ends with what was found; 0: never. Stores in memory, which
    // look at everything anyway, do not care.
    std::size_t look = 0;
};

// How much waits, for one type in one state.
struct QueueDepth {
    model::ActionKind kind = model::ActionKind::kQueue;
    std::string type;
    model::RunState state = model::RunState::kQueued;
    std::int64_t count = 0;
    TimePoint oldest_ready_at{};
    friend bool operator==(const QueueDepth&, const QueueDepth&) = default;
};

}  // namespace ksana::store

template <>
struct ksana::model::EnumNames<ksana::store::RunSort> {
    static constexpr std::array<std::string_view, 3> kNames = {"id", "ready_at", "finished_at"};
};
