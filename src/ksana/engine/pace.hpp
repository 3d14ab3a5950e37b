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
        const std::chrono::duration<double> passed = now - since_;
        if (passed > kMemory) return Begin(now);
        counted_ += number;
        if (passed < (known_ ? kWindow : kFirstWindow)) return;
        const double fresh = static_cast<double>(counted_) / passed.count();
        // A burst is believed at once; that it is over, not before it has been so for a while.
        per_second_ = fresh > per_second_ ? fresh : (per_second_ + fresh) / 2;
        counted_ = 0;
        since_ = now;
        known_ = true;
    }

    double per_second() const { return per_second_; }

    // So many come within this time.
    std::size_t Within(Duration time) const {
        return static_cast<std::size_t>(per_second_ * std::chrono::duration<double>(time).count());
    }

  private:
    // Short at first: whoever begins with thousands at once must not wait to know it.
    static constexpr std::chrono::milliseconds kFirstWindow{4};
    static constexpr std::chrono::milliseconds kWindow{20};
    static constexpr std::chrono::milliseconds kMemory{500};

    // After a long silence: what was before tells nothing, and what has come now not how fast.
    void Begin(SteadyPoint now) {
        per_second_ = 0;
        counted_ = 0;
        since_ = now;
        known_ = false;
    }

    double per_second_ = 0;
    std::size_t counted_ = 0;
    SteadyPoint since_{};
    bool known_ = false;
};

}  // namespace ksana::engine
