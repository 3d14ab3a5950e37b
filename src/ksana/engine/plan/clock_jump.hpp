#pragma once

#include <optional>

#include "ksana/base/time/clock.hpp"

namespace ksana::engine {

// Detects that the wall clock was set: it then advances by another amount than the steady clock.
// Not thread-safe.
class ClockJumpDetector {
  public:
    explicit ClockJumpDetector(const Clock& clock) : clock_(clock) {}

    // Returns by how much the wall clock was set since the last call; negative: back. The first
    // call returns zero.
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
