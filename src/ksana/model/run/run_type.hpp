#pragma once

#include <optional>
#include <string>

#include "ksana/base/time/time.hpp"
#include "ksana/model/job/policy.hpp"

namespace ksana::model {

// Settings shared by all runs of a type (T-06). Types are optional: a run of an unknown type waits
// for a worker or agent that serves it.
struct RunType {
    std::string code;  // unique
    std::string name;
    std::string category;
    std::optional<RetryPolicy> retry;
    std::optional<Duration> timeout;
    // hold a run for a user when its retries are exhausted, instead of failing it
    bool need_manual = false;
    Callbacks callbacks;
    TimePoint created_at{};
    TimePoint updated_at{};

    friend bool operator==(const RunType&, const RunType&) = default;
};

}  // namespace ksana::model
