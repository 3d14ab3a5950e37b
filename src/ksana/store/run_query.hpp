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

// Selects the runs that meet every member that is set; empty text and nullopt match everything.
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
    std::optional<TimePoint> finished_from;   // inclusive
    std::optional<TimePoint> finished_until;  // exclusive
    std::string text;  // words in type, category, creator, job id and last error (text_search.hpp)
    friend bool operator==(const RunFilter&, const RunFilter&) = default;
};

enum class RunSort : std::uint8_t {
    kId,        // ids are UUIDv7: by creation time
    kReady,     // by ready_at, what comes next; unfinished runs only
    kFinished,  // by finished_at; final runs only
};

struct RunQuery {
    RunFilter filter;
    RunSort sort = RunSort::kId;
    bool descending = true;
    std::size_t limit = kDefaultPageSize;
    std::string cursor;
    // About how many rows one page may examine before it ends early (Page::ended_early); 0: no
    // bound. A bound helps where no index serves the filter. The memory and JSON stores ignore it.
    std::size_t look = 0;
};

// The unfinished runs of one kind and type in one state.
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
