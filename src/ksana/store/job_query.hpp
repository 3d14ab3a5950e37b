#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ksana/base/text/text_map.hpp"
#include "ksana/model/enum_names.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/store/page.hpp"

namespace ksana::store {

// Selects the jobs that meet every member that is set; empty text and nullopt match everything.
struct JobFilter {
    std::string tenant;
    std::string name;
    std::string group;
    std::string owner;
    std::optional<bool> enabled;
    std::optional<model::ActionKind> kind;
    std::string type;  // of the queue action, or the handler's name (RunTypeOf)
    std::optional<model::RunState> last_state;
    std::string calendar;  // the calendar that the schedule uses
    TextMap labels;        // the job has all of these
    std::string text;      // words in id, name, owner, type and last error (text_search.hpp)
};

enum class JobSort : std::uint8_t { kId, kName, kNextRun, kLastRun, kCreated, kUpdated };

// A job without the time of the sort comes after all jobs that have it, or before them when
// descending.
struct JobQuery {
    JobFilter filter;
    JobSort sort = JobSort::kId;
    bool descending = false;
    std::size_t limit = kDefaultPageSize;
    std::string cursor;
    // About how many rows one page may examine before it ends early (Page::ended_early); 0: no
    // bound. A bound helps where no index serves the filter. The memory and JSON stores ignore it.
    std::size_t look = 0;
};

// Groups that have at least one job, by name.
struct GroupQuery {
    std::string name;   // empty: all
    std::string after;  // exclusive
    std::size_t limit = kDefaultPageSize;
};
struct GroupSize {
    std::string name;
    std::int64_t jobs = 0;
    std::int64_t paused = 0;  // how many of `jobs` are paused
    friend bool operator==(const GroupSize&, const GroupSize&) = default;
};

// Returns the type of the job's runs: the type of its queue action or the name of its handler;
// empty for other actions.
std::string RunTypeOf(const model::Job& job);

}  // namespace ksana::store

template <>
struct ksana::model::EnumNames<ksana::store::JobSort> {
    static constexpr std::array<std::string_view, 6> kNames = {
        "id", "name", "next_run_at", "last_run_at", "created_at", "updated_at"};
};
