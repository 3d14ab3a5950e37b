#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "ksana/base/time/time.hpp"

namespace ksana::engine {

// How many of something come in a second, lately. One thread.
class RateMeter {
  public:
    // From so many a second on it pays to do them together.
    static constexpr double kMany = 1000;

    void Count(std::size_t number, SteadyPoint now) {
        const std::chrono::duration<double> passed = now - since_;
        if (passed > kMemory || (!begun_ && per_second_ == 0)) return Begin(number, now);
        counted_ += number;
        if (passed < (per_second_ >= kMany ? kWindow : kFirstWindow)) return;
        const double fresh = static_cast<double>(counted_) / passed.count();
        // A burst is believed at once; that it is over, not before it has been so for a while.
        per_second_ = fresh > per_second_ ? fresh : (per_second_ + fresh) / 2;
        counted_ = 0;
        since_ = now;
        begun_ = false;
    }

    double per_second() const { return per_second_; }

  private:
    // Short while few come: whoever begins with thousands at once must not wait to know it.
    static constexpr std::chrono::milliseconds kFirstWindow{4};
    static constexpr std::chrono::milliseconds kWindow{20};
    static constexpr std::chrono::milliseconds kMemory{500};

    // After a silence: what was before tells nothing, and what has come now not how fast.
    void Begin(std::size_t number, SteadyPoint now) {
        per_second_ = 0;
        counted_ = 0;
        since_ = now;
        begun_ = number > 0;
    }

    double per_second_ = 0;
    std::size_t counted_ = 0;
    SteadyPoint since_{};
    bool begun_ = false;  // something came when this window began
};

}  // namespace ksana::engine
