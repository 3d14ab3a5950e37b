#pragma once

#include <optional>
#include <string>

#include "ksana/base/time/time.hpp"
#include "ksana/model/job/policy.hpp"

namespace ksana::model {

// What is known about a type of runs (T-06). A type is optional: a run of an unknown type waits
// for somebody who serves it.
struct RunType {
    std::string code;  // unique
    std::string name;
    std::string category;
    std::optional<RetryPolicy> retry;
    std::optional<Duration> timeout;
    bool need_manual = false;  // exhausted retries wait for a person instead of failing
    Callbacks callbacks;
    TimePoint created_at{};
    TimePoint updated_at{};

    friend bool operator==(const RunType&, const RunType&) = default;
};

}  // namespace ksana::model
