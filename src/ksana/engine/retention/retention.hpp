#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/loop.hpp"
#include "ksana/engine/plan/clock_jump.hpp"
#include "ksana/engine/retention/history_trim.hpp"
#include "ksana/lock/lock_driver.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// Deletes runs that are too old or too many, old audit events, and expired documents, in small
// batches so that firing continues. Owned by Node. Every node may run one; they do not disturb each
// other. Not thread-safe: one loop calls it. Returns the store's error.
class Retention {
  public:
    struct Options {
        Duration keep = std::chrono::hours(24 * 30);  // of finished runs; 0: for ever
        std::int64_t max_runs = 0;                    // finished runs; 0: no limit
        std::int64_t max_bytes = 0;   // estimated size of finished runs; 0: no limit
        std::string owner = "local";  // of the lock: this node
        Duration keep_events = std::chrono::hours(24 * 90);  // of audit events; 0: for ever
        std::size_t batch = 500;
        // Between two batches. It becomes shorter while batches stay full, because then runs end
        // faster than they are deleted.
        Duration pause = std::chrono::milliseconds(50);
        // The pause when nothing is left to delete; at most the shortest retention time.
        Duration rest = std::chrono::minutes(1);
        // How long nothing is deleted after the clock was set forward, which makes everything look
        // old. A wrong clock is noticed within this time; deletions cannot be undone.
        Duration distrust = std::chrono::hours(24);
    };

    // `store`, `locks` and `clock` must outlive the object.
    Retention(store::Store& store, lock::LockDriver& locks, const Clock& clock,
              const Options& options)
        : store_(store),
          clock_(clock),
          options_(options),
          jumps_(clock),
          trim_(store, locks, clock,
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

    // Deletes one batch of each kind.
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
    std::size_t full_ = 0;  // consecutive full batches
};

}  // namespace ksana::engine
