#pragma once

#include <atomic>

namespace ksana::telemetry {

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

}  // namespace ksana::telemetry
