#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "ksana/base/time.hpp"

namespace ksana::engine {

// How many of something come in a second, lately. One thread.
class Pace {
  public:
    void Count(std::size_t number, SteadyPoint now) {
        counted_ += number;
        const std::chrono::duration<double> passed = now - since_;
        if (passed < kWindow) return;
        const double fresh = static_cast<double>(counted_) / passed.count();
        // After a long silence what was before tells nothing.
        per_second_ = passed > kMemory ? fresh : (per_second_ + fresh) / 2;
        counted_ = 0;
        since_ = now;
    }

    double per_second() const { return per_second_; }

    // So many come within this time.
    std::size_t Within(Duration time) const {
        return static_cast<std::size_t>(per_second_ * std::chrono::duration<double>(time).count());
    }

  private:
    static constexpr std::chrono::milliseconds kWindow{20};
    static constexpr std::chrono::milliseconds kMemory{500};

    double per_second_ = 0;
    std::size_t counted_ = 0;
    SteadyPoint since_{};
};

}  // namespace ksana::engine
