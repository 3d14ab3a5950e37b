#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/insight/explain/explanation.hpp"
#include "ksana/insight/sources.hpp"

namespace ksana::insight {

// What only a node knows about what waits.
struct NodeView {
    std::size_t slots = 0;
    std::size_t busy = 0;
    bool starts_held_back = false;  // overdue runs are started at a limited rate now
};

struct ExplainParams {
    std::string job_id;
    TimePoint at{};
    // The nearest fire within this is meant: people type 03:00 for a job that fires at 03:00:17.
    // From its nominal time to its start with jitter a fire is meant, too.
    Duration tolerance = std::chrono::minutes(1);
    Duration late_after = std::chrono::seconds(1);  // a start within this is in time
    std::optional<NodeView> node;
    std::optional<TimePoint> now;  // none: the store's clock
};

// What happened to the fire of a job at a time, and why. Reads the store a handful of times, each
// bounded; changes nothing. Fails only when the store does.
Result<Explanation> Explain(const Sources& sources, const ExplainParams& params);

}  // namespace ksana::insight
