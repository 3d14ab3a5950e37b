#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/text/text_map.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/job/action.hpp"
#include "ksana/model/job/policy.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/schedule/spec.hpp"

namespace ksana::model {

// The user-written part of a job: what to do and when. Small members are grouped together to save
// space: a memory store may hold millions of jobs.
struct JobDefinition {
    std::string id;
    std::string tenant = "default";
    std::string group = "default";
    std::string owner;
    std::string name;
    std::string description;
    TextMap labels;
    Action action;
    schedule::ScheduleSpec schedule;
    std::string paused_reason;
    bool enabled = true;
    OverlapPolicy overlap = OverlapPolicy::kSkip;
    RunLog run_log = RunLog::kFull;
    std::int32_t priority = kDefaultPriority;
    Misfire misfire;
    std::optional<RetryPolicy> retry;  // none: that of the type, else the server's
    std::optional<Duration> timeout;   // per attempt; none: that of the type, else the server's
    Duration stop_grace = std::chrono::seconds(30);
    std::vector<Dependency> depends_on;
    Duration max_wait = std::chrono::hours(1);  // how long a fire waits for them
    Placement placement;
    friend bool operator==(const JobDefinition&, const JobDefinition&) = default;
};

// The part of a job that the store and the engine maintain.
struct JobState {
    std::int64_t version = 0;  // incremented by every change that a user makes
    TimePoint created_at{};
    TimePoint updated_at{};
    // Every nominal fire up to here is accounted for in the ledger.
    std::optional<TimePoint> planned_until;
    std::optional<TimePoint> next_run_at;
    std::optional<TimePoint> last_run_at;
    std::string last_error;
    std::optional<RunState> last_state;
    std::int32_t consecutive_failures = 0;
    std::int64_t total_runs = 0;
    // How many other jobs name this one in depends_on or in a schedule of kind `after`.
    std::int32_t dependants = 0;
    friend bool operator==(const JobState&, const JobState&) = default;
};

// A definition with its state. Each of the two parts is replaced as a whole.
struct Job : JobDefinition {
    JobState state = {};
    JobDefinition& definition() { return *this; }
    const JobDefinition& definition() const { return *this; }
    friend bool operator==(const Job&, const Job&) = default;
};

}  // namespace ksana::model
