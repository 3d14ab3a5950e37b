#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ksana::telemetry {

// Counts what happened; only goes up. Any thread; one atomic addition, no order with anything else.
class Counter {
  public:
    void Add(std::uint64_t count = 1) { value_.fetch_add(count, std::memory_order_relaxed); }
    std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::uint64_t> value_{0};
};

// How much there is now. Any thread; no lock. For a value that somebody else knows already, a
// callback (Registry::AddCallbackGauge) is better: it costs nothing until it is asked.
class Gauge {
  public:
    void Set(double value) { value_.store(value, std::memory_order_relaxed); }
    void Add(double amount) { value_.fetch_add(amount, std::memory_order_relaxed); }
    double value() const { return value_.load(std::memory_order_relaxed); }

  private:
    std::atomic<double> value_{0};
};

// Upper bounds in seconds; what lies above the last one is counted under +Inf.

// How late something began: 1 ms … 60 s, finest where the promises are (2, 10 and 50 ms).
std::vector<double> LatenessBuckets();

// How long something took: 5 ms … 10 min.
std::vector<double> DurationBuckets();

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
