#include "ksana/telemetry/instruments.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "ksana/base/error/check.hpp"

namespace ksana::telemetry {

std::vector<double> LatenessBuckets() {
    return {0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
}

std::vector<double> DurationBuckets() {
    return {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600};
}

Histogram::Histogram(std::vector<double> bounds)
    : bounds_(std::move(bounds)), counts_(bounds_.size() + 1), exemplars_(bounds_.size() + 1) {
    const auto finite = [](double bound) { return std::isfinite(bound); };
    KSANA_CHECK(!bounds_.empty() && std::ranges::all_of(bounds_, finite),
                "a histogram has at least one bound, and finite ones only");
    const bool rising =
        std::ranges::adjacent_find(bounds_, std::greater_equal<>()) == bounds_.end();
    KSANA_CHECK(rising, "the bounds of a histogram rise");
}

std::optional<std::size_t> Histogram::Count(double value) {
    if (std::isnan(value)) return std::nullopt;
    const auto place = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
    const auto bucket = static_cast<std::size_t>(place);
    counts_[bucket].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
    return bucket;
}

}  // namespace ksana::telemetry
