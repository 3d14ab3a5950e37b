#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "ksana/base/time/time.hpp"

namespace ksana::engine {

// How many attempts can begin within a time because others end: so many may wait in front of the
// slots. Two bounds: what the slots can take when attempts last as long as lately, and what has
// really ended lately, so that the first few that are quick do not promise too much. One thread.
class SlotThroughput {
  public:
    explicit SlotThroughput(std::size_t slots) : slots_(slots) {}

    // So many have ended, and were under way for so long all together.
    void Count(std::size_t ended, Duration together, SteadyPoint now) {
        MoveTo(now);
        if (ended == 0) return;
        const double mean = Seconds(together) / static_cast<double>(ended);
        mean_seconds_ = Recent() == 0 ? mean : (mean_seconds_ + mean) / 2;
        current_ += ended;
    }

    std::size_t Within(Duration time, SteadyPoint now) {
        MoveTo(now);
        const double recent =
            kGrowth * static_cast<double>(Recent()) * Seconds(time) / Seconds(kBucket);
        const double by_slots =
            static_cast<double>(slots_) * Seconds(time) / std::max(mean_seconds_, kShortest);
        return static_cast<std::size_t>(std::min(recent, by_slots));
    }

  private:
    // What ended in this one and the one before is recent.
    static constexpr Duration kBucket = std::chrono::milliseconds(200);
    static constexpr double kShortest = 1e-6;
    // So much more than was seen is believed in; a burst has its full pace after a few rounds.
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
