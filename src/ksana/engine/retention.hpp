#pragma once

#include <optional>

#include "ksana/base/clock.hpp"
#include "ksana/base/result.hpp"
#include "ksana/engine/jump_meter.hpp"
#include "ksana/engine/step.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// Deletes runs that ended long ago, old audit events, and what has expired, a little at a time so
// that firing goes on. Every node may have one; they do not disturb each other. One thread.
class Retention {
  public:
    struct Options {
        Duration keep = std::chrono::hours(24 * 30);         // runs; 0: for ever
        Duration keep_events = std::chrono::hours(24 * 90);  // of the audit; 0: for ever
        std::size_t batch = 500;
        Duration pause = std::chrono::milliseconds(50);  // between two batches
        Duration rest = std::chrono::minutes(1);         // when nothing is left to delete
        // A clock that is set forward makes everything look old. If it is wrong, that will be
        // noticed before this has passed; what is deleted does not come back.
        Duration distrust = std::chrono::hours(24);
    };

    // What is given must outlive it.
    Retention(store::Store& store, const Clock& clock, const Options& options)
        : store_(store), clock_(clock), options_(options), jumps_(clock) {}

    struct Answer {
        Step step;
        std::size_t runs = 0;
        std::size_t events = 0;
        std::size_t documents = 0;
    };

    Result<Answer> RunOnce();

  private:
    Result<void> PurgeOld(Answer& answer);

    store::Store& store_;
    const Clock& clock_;
    const Options options_;
    JumpMeter jumps_;
    std::optional<SteadyPoint> not_before_;
};

}  // namespace ksana::engine
