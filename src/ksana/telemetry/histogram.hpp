#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ksana::telemetry {

// Counts values by size, in buckets fixed when it is made. Any thread; an observation is two atomic
// additions and a search among a dozen bounds, without lock or allocation.
class Histogram {
  public:
    // Finite and rising; at least one. The bucket +Inf comes by itself.
    explicit Histogram(std::vector<double> bounds);

    // A value on a bound belongs to it ("le"). NaN is ignored: it would spoil the sum for ever.
    void Observe(double value);
    void Observe(std::chrono::nanoseconds took) {
        Observe(std::chrono::duration<double>(took).count());
    }

    const std::vector<double>& bounds() const { return bounds_; }
    double sum() const { return sum_.load(std::memory_order_relaxed); }
    // One bucket by itself, not added up; the one after the last bound is +Inf.
    std::uint64_t CountOf(std::size_t bucket) const {
        return counts_.at(bucket).load(std::memory_order_relaxed);
    }

  private:
    const std::vector<double> bounds_;
    // There is no count of all: the sum of these is it, so the two cannot disagree in a scrape.
    std::vector<std::atomic<std::uint64_t>> counts_;
    std::atomic<double> sum_{0};
};

}  // namespace ksana::telemetry
