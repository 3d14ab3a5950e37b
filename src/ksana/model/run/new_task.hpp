#pragma once

#include <optional>
#include <string>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/job/policy.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::model {

// A unique key as the client submits it. `period` counts from the submission.
struct TaskKey {
    std::string key;  // empty: none
    RunStates states = kUnfinishedStates;
    std::optional<Duration> period;
    friend bool operator==(const TaskKey&, const TaskKey&) = default;
};

// A client's request for a queued run (T-01). Settings that are absent come from the type, else
// from the server's defaults.
struct NewTask {
    // None: the server draws one. Submitting the same id again finds the existing run.
    std::optional<Uuid> id;
    std::string type;
    std::string payload;  // JSON; empty: none
    std::string tenant = "default";
    std::string creator;
    std::string category;
    std::int32_t priority = kDefaultPriority;
    std::optional<TimePoint> start_at;  // earliest start; a time in the past means at once
    std::optional<Duration> delay;      // earliest start, relative to the submission
    TaskKey unique;
    std::optional<RetryPolicy> retry;
    std::optional<Duration> timeout;
    std::optional<bool> need_manual;
    std::optional<Uuid> parent;
    std::string trace_parent;  // W3C traceparent of the submitter; empty: none
    TextMap selector;          // labels that an agent must have to claim the run
    // Labels of the agents that are asked first, for `prefer_for` (none: the default).
    TextMap prefer;
    std::optional<Duration> prefer_for;
    std::string sticky;  // a key: tasks with the same one go to the same worker first
    friend bool operator==(const NewTask&, const NewTask&) = default;
};

}  // namespace ksana::model
