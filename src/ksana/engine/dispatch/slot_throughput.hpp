#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "ksana/base/time/time.hpp"

namespace ksana::engine {

// Estimates how many attempts can begin within a time because others end. That many attempts may be
// claimed ahead of free slots. The estimate is the smaller of two: what the slots can take at the
// recent mean duration, and what ended recently times kGrowth, so that a few quick attempts do not
// promise too much. Not thread-safe: one thread uses it.
class SlotThroughput {
  public:
    explicit SlotThroughput(std::size_t slots) : slots_(slots) {}

    // Adds `ended` attempts, which were in flight for `together` in total.
    void Count(std::size_t ended, Duration together, SteadyPoint now) {
        MoveTo(now);
        if (ended == 0) return;
        const double mean = Seconds(together) / static_cast<double>(ended);
        mean_seconds_ = Recent() == 0 ? mean : (mean_seconds_ + mean) / 2;
        current_ += ended;
    }

    // Returns the number of attempts that can begin within `time`.
    std::size_t Within(Duration time, SteadyPoint now) {
        MoveTo(now);
        const double recent =
            kGrowth * static_cast<double>(Recent()) * Seconds(time) / Seconds(kBucket);
        const double by_slots =
            static_cast<double>(slots_) * Seconds(time) / std::max(mean_seconds_, kShortest);
        return static_cast<std::size_t>(std::min(recent, by_slots));
    }

  private:
    // Attempts that ended in the current or the previous bucket count as recent.
    static constexpr Duration kBucket = std::chrono::milliseconds(200);
    static constexpr double kShortest = 1e-6;
    // The factor by which the estimate may exceed the recent count. A burst reaches its full rate
    // after a few rounds.
    static constexpr double kGrowth = 4;

    static double Seconds(Duration time) { return std::chrono::duration<double>(time).count(); }
    std::size_t Recent() const { return current_ + before_; }

    void MoveTo(SteadyPoint now) {
        if (now < began_ + kBucket) return;
        before_ = now < began_ + 2 * kBucket ? current_ : 0;
        current_ = 0;
        began_ = now;
    }

    const std::size_t slots_;
    double mean_seconds_ = 0;
    SteadyPoint began_{};
    std::size_t current_ = 0;
    std::size_t before_ = 0;
};

}  // namespace ksana::engine
