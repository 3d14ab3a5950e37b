#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ksana/telemetry/exemplar.hpp"

namespace ksana::telemetry {

// A count of events; never decreases. Thread-safe: Add is one relaxed atomic addition.
class Counter {
  public:
    void Add(std::uint64_t count = 1) { value_.fetch_add(count, std::memory_order_relaxed); }
    // Counts one event, of which `make` returns an exemplar if one is wanted.
    template <class Make>
    void AddOne(const Make& make) {
        Add();
        exemplar_.Offer(0, 1, make);
    }
    std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }
    const ExemplarSlots& exemplar() const { return exemplar_; }

  private:
    std::atomic<std::uint64_t> value_{0};
    ExemplarSlots exemplar_{1};
};

// A value that goes up and down. Thread-safe and lock-free. If another object knows the value
// already, use Registry::AddCallbackGauge: it costs nothing between scrapes.
class Gauge {
  public:
    void Set(double value) { value_.store(value, std::memory_order_relaxed); }
    void Add(double amount) { value_.fetch_add(amount, std::memory_order_relaxed); }
    double value() const { return value_.load(std::memory_order_relaxed); }

  private:
    std::atomic<double> value_{0};
};

// Upper bounds of histogram buckets, in seconds. Larger values are counted under +Inf.

// Buckets for delays of a start: 1 ms … 60 s, finest around the promised limits (2, 10 and 50 ms).
std::vector<double> LatenessBuckets();

// Buckets for durations: 5 ms … 10 min.
std::vector<double> DurationBuckets();

// Counts values by size in fixed buckets. Thread-safe: an observation is two atomic additions and a
// binary search among about a dozen bounds, without lock or allocation.
class Histogram {
  public:
    // `bounds` must be finite, strictly increasing and not empty. The +Inf bucket is added.
    explicit Histogram(std::vector<double> bounds);

    // Counts a value in the first bucket with value <= bound. Ignores NaN, which would make the sum
    // NaN forever.
    void Observe(double value) { Count(value); }
    void Observe(std::chrono::nanoseconds took) { Count(Seconds(took)); }
    // Also keeps the exemplar that `make` returns, if one is wanted.
    template <class Make>
    void Observe(std::chrono::nanoseconds took, const Make& make) {
        const double value = Seconds(took);
        if (const auto bucket = Count(value)) exemplars_.Offer(*bucket, value, make);
    }

    const std::vector<double>& bounds() const { return bounds_; }
    double sum() const { return sum_.load(std::memory_order_relaxed); }
    // Returns the count of one bucket, not cumulative. The bucket after the last bound is +Inf.
    std::uint64_t CountOf(std::size_t bucket) const {
        return counts_.at(bucket).load(std::memory_order_relaxed);
    }
    const ExemplarSlots& exemplars() const { return exemplars_; }

  private:
    static double Seconds(std::chrono::nanoseconds time) {
        return std::chrono::duration<double>(time).count();
    }
    // Returns the bucket; none: the value is NaN.
    std::optional<std::size_t> Count(double value);

    const std::vector<double> bounds_;
    // The total count is the sum of these and is not stored, so the two cannot disagree in a
    // scrape.
    std::vector<std::atomic<std::uint64_t>> counts_;
    std::atomic<double> sum_{0};
    ExemplarSlots exemplars_;
};

}  // namespace ksana::telemetry
