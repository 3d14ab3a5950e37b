#pragma once

#include <optional>
#include <string>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/job/policy.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::model {

// A unique key as whoever submits says it: how long it holds is counted from the submission.
struct TaskKey {
    std::string key;  // empty: none
    RunStates states = kUnfinishedStates;
    std::optional<Duration> period;
    friend bool operator==(const TaskKey&, const TaskKey&) = default;
};

// What somebody wants done (T-01): becomes a run of the queue. What is not said is the type's, else
// the server's.
struct NewTask {
    std::optional<Uuid> id;  // none: one is drawn. The same again finds the run of the first time
    std::string type;
    std::string payload;  // JSON; empty: none
    std::string tenant = "default";
    std::string creator;
    std::string category;
    std::int32_t priority = kDefaultPriority;
    std::optional<TimePoint> start_at;  // not before; in the past: at once
    std::optional<Duration> delay;      // the same, counted from the submission
    TaskKey unique;
    std::optional<RetryPolicy> retry;
    std::optional<Duration> timeout;
    std::optional<bool> need_manual;
    std::optional<Uuid> parent;
    TextMap selector;  // only for agents with these labels
    friend bool operator==(const NewTask&, const NewTask&) = default;
};

}  // namespace ksana::model
