#pragma once

#include <optional>

#include "ksana/base/time/clock.hpp"

namespace ksana::engine {

// Notices that somebody has set the wall clock: it then moves otherwise than the steady one. One
// thread.
class ClockJumpDetector {
  public:
    explicit ClockJumpDetector(const Clock& clock) : clock_(clock) {}

    // By how much the wall clock was set since the last call; negative: back. The first call
    // answers zero.
    Duration Take() {
        const TimePoint wall = clock_.Now();
        const SteadyPoint steady = clock_.SteadyNow();
        Duration jump{};
        if (last_) {
            const auto passed = std::chrono::duration_cast<Duration>(steady - last_->steady);
            jump = (wall - last_->wall) - passed;
        }
        last_ = {wall, steady};
        return jump;
    }

  private:
    struct Reading {
        TimePoint wall;
        SteadyPoint steady;
    };

    const Clock& clock_;
    std::optional<Reading> last_;
};

}  // namespace ksana::engine
