#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "ksana/base/time/clock.hpp"

namespace ksana::bench {

// Measures rates: runs a function on several threads and returns the operations per second. Rate()
// belongs to one thread; the function may call Goes() on any of its threads.
class BenchTimer {
  public:
    SystemClock& clock() { return clock_; }
    double Seconds() const {
        return std::chrono::duration<double>(clock_.SteadyNow().time_since_epoch()).count();
    }

    // Returns whether the time of the current Rate() is not yet over; for functions that do not end
    // by themselves.
    bool Goes() const { return Elapsed() < time_; }
    double Elapsed() const { return Seconds() - start_; }

    // Runs `body` on `threads` threads until all return. Each adds its operations to the counter.
    double Rate(std::size_t threads, const std::function<void(std::atomic<std::int64_t>&)>& body,
                double seconds = 3) {
        std::atomic<std::int64_t> done = 0;
        time_ = seconds;
        start_ = Seconds();
        {
            std::vector<std::jthread> crowd;
            for (std::size_t i = 0; i < threads; ++i) crowd.emplace_back([&] { body(done); });
        }
        return static_cast<double>(done) / Elapsed();
    }

  private:
    SystemClock clock_;
    double time_ = 0;
    double start_ = 0;
};

}  // namespace ksana::bench
