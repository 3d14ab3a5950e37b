#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ksana/base/text/text_map.hpp"
#include "ksana/model/enum_names.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/store/page.hpp"

namespace ksana::store {

// All that is set must hold. Empty text, no value: anything.
struct JobFilter {
    std::string tenant;
    std::string name;
    std::string group;
    std::string owner;
    std::optional<bool> enabled;
    std::optional<model::ActionKind> kind;
    std::string type;  // of a queue action
    std::optional<model::RunState> last_state;
    std::string calendar;  // its schedule goes by this one
    TextMap labels;        // has all of these
    std::string text;      // in id, name, owner, type and last error
};

enum class JobSort : std::uint8_t { kId, kName, kNextRun, kLastRun, kCreated, kUpdated };

// A job without the time it is sorted by comes after all that have one (before them when
// descending).
struct JobQuery {
    JobFilter filter;
    JobSort sort = JobSort::kId;
    bool descending = false;
    std::size_t limit = kDefaultPageSize;
    std::string cursor;
    // A filter that no index knows may have to look at many rows before it has found a page full.
    // After so many (about) the page ends with what was found; 0: never. Stores in memory, which
    // look at everything anyway, do not care.
    std::size_t look = 0;
};

// Groups that jobs are in, by name.
struct GroupQuery {
    std::string name;   // empty: all
    std::string after;  // behind this one
    std::size_t limit = kDefaultPageSize;
};
struct GroupSize {
    std::string name;
    std::int64_t jobs = 0;
    std::int64_t paused = 0;  // of them
    friend bool operator==(const GroupSize&, const GroupSize&) = default;
};

// The type that a job's runs have: that of its queue action, the name of its handler.
std::string RunTypeOf(const model::Job& job);

}  // namespace ksana::store

template <>
struct ksana::model::EnumNames<ksana::store::JobSort> {
    static constexpr std::array<std::string_view, 6> kNames = {
        "id", "name", "next_run_at", "last_run_at", "created_at", "updated_at"};
};
