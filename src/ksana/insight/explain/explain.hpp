#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/insight/explain/explanation.hpp"
#include "ksana/insight/sources.hpp"

namespace ksana::insight {

// Facts about waiting runs that only their node knows.
struct NodeView {
    std::size_t slots = 0;
    std::size_t busy = 0;
    bool starts_held_back = false;  // the node limits the rate at which it starts overdue runs
    // Whether this server, or a live worker or agent, carries out such a run; empty: not known.
    std::function<bool(const model::Run& run)> served = {};
};

struct ExplainParams {
    std::string job_id;
    TimePoint at{};
    // The largest distance to the fire that the user means: people type 03:00 for a job that fires
    // at 03:00:17. The distance is zero between a fire's nominal time and its start with jitter.
    Duration tolerance = std::chrono::minutes(1);
    Duration late_after = std::chrono::seconds(1);  // a start within this time counts as on time
    std::optional<NodeView> node;
    std::optional<TimePoint> now;  // none: the store's clock
};

// Explains what happened to a job's fire at a time, and why. Read-only, with a small number of
// bounded reads. Returns kInvalidArgument for a time outside the supported years, and else fails
// only if the store does. Thread-safe.
Result<Explanation> Explain(const Sources& sources, const ExplainParams& params);

}  // namespace ksana::insight
