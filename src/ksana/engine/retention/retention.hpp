#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/loop.hpp"
#include "ksana/engine/plan/clock_jump.hpp"
#include "ksana/engine/retention/history_trim.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// Deletes runs that ended long ago or are too many, old audit events, and what has expired, a
// little at a time so that firing goes on. Every node may have one; they do not disturb each other.
// One thread.
class Retention {
  public:
    struct Options {
        Duration keep = std::chrono::hours(24 * 30);         // runs; 0: for ever
        std::int64_t max_runs = 0;                           // finished ones; 0: any number
        std::int64_t max_bytes = 0;                          // of them, about; 0: any size
        std::string owner = "local";                         // this node
        Duration keep_events = std::chrono::hours(24 * 90);  // of the audit; 0: for ever
        std::size_t batch = 500;
        // Between two batches. It becomes shorter the longer there are full ones: more ends than
        // is deleted that way.
        Duration pause = std::chrono::milliseconds(50);
        // When nothing is left to delete; not longer than what is shortest kept.
        Duration rest = std::chrono::minutes(1);
        // A clock that is set forward makes everything look old. If it is wrong, that will be
        // noticed before this has passed; what is deleted does not come back.
        Duration distrust = std::chrono::hours(24);
    };

    // What is given must outlive it.
    Retention(store::Store& store, const Clock& clock, const Options& options)
        : store_(store),
          clock_(clock),
          options_(options),
          jumps_(clock),
          trim_(store, clock,
                {.max_runs = options.max_runs,
                 .max_bytes = options.max_bytes,
                 .owner = options.owner,
                 .batch = options.batch,
                 .rest = options.rest}) {}

    struct Answer {
        Step step;
        std::size_t runs = 0;
        std::size_t events = 0;
        std::size_t documents = 0;
    };

    Result<Answer> RunOnce();

  private:
    bool TrustsTheClock();
    Result<void> PurgeOld(Answer& answer);
    Duration Pause(Duration took) const;
    Duration Rest() const;

    store::Store& store_;
    const Clock& clock_;
    const Options options_;
    ClockJumpDetector jumps_;
    std::optional<SteadyPoint> not_before_;
    HistoryTrim trim_;
    std::size_t full_ = 0;  // batches, one after the other
};

}  // namespace ksana::engine
