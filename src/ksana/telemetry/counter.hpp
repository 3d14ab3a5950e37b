#pragma once

#include <atomic>
#include <cstdint>

namespace ksana::telemetry {

// Counts what happened; only goes up. Any thread; one atomic addition, no order with anything else.
class Counter {
  public:
    void Add(std::uint64_t count = 1) { value_.fetch_add(count, std::memory_order_relaxed); }
    std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::uint64_t> value_{0};
};

}  // namespace ksana::telemetry
