#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "ksana/base/time/time.hpp"

namespace ksana::engine {

// Estimates the recent rate of events per second. Not thread-safe: one thread uses it.
class RateMeter {
  public:
    // The rate from which batching pays off.
    static constexpr double kMany = 1000;

    void Count(std::size_t number, SteadyPoint now) {
        const std::chrono::duration<double> passed = now - since_;
        if (passed > kMemory || (!begun_ && per_second_ == 0)) return Begin(number, now);
        counted_ += number;
        if (passed < (per_second_ >= kMany ? kWindow : kFirstWindow)) return;
        const double fresh = static_cast<double>(counted_) / passed.count();
        // A rising rate is believed at once, a falling one is averaged.
        per_second_ = fresh > per_second_ ? fresh : (per_second_ + fresh) / 2;
        counted_ = 0;
        since_ = now;
        begun_ = false;
    }

    double per_second() const { return per_second_; }

  private:
    // The window at low rates. It is short, so that a sudden burst is noticed quickly.
    static constexpr std::chrono::milliseconds kFirstWindow{4};
    static constexpr std::chrono::milliseconds kWindow{20};
    static constexpr std::chrono::milliseconds kMemory{500};

    // Starts over after a silence of kMemory: the old rate is meaningless, and the first events
    // alone say nothing about their rate.
    void Begin(std::size_t number, SteadyPoint now) {
        per_second_ = 0;
        counted_ = 0;
        since_ = now;
        begun_ = number > 0;
    }

    double per_second_ = 0;
    std::size_t counted_ = 0;
    SteadyPoint since_{};
    bool begun_ = false;  // events came at the start of this window
};

}  // namespace ksana::engine
