#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "ksana/base/time/clock.hpp"

namespace ksana::bench {

// Runs something on several threads for a while and says how much was done a second.
class BenchTimer {
  public:
    SystemClock& clock() { return clock_; }
    double Seconds() const {
        return std::chrono::duration<double>(clock_.SteadyNow().time_since_epoch()).count();
    }

    // Whether the time of a Rate is not yet up; for bodies that do not end by themselves.
    bool Goes() const { return Elapsed() < time_; }
    double Elapsed() const { return Seconds() - start_; }

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
