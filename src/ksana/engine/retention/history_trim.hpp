#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/lock/lock_driver.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// Returns the estimated bytes that a store needs for a finished run: its texts, plus an assumed
// size of rows and index entries (docs/operations.md).
std::int64_t SizeOfRun(const model::Run& run);

// Keeps the number and the size of finished runs below a maximum by deleting the oldest. Counts
// them now and then, and estimates their size from a sample of each age. A lock makes sure that one
// node at a time does it: two nodes that see the same excess would delete twice as much. While the
// lock cannot be had, nothing is deleted. Owned by Retention, on its thread. Returns the store's
// error.
class HistoryTrim {
  public:
    struct Options {
        std::int64_t max_runs = 0;   // 0: no limit
        std::int64_t max_bytes = 0;  // 0: no limit
        // Of the lock.
        std::string owner = "local";
        std::size_t batch = 500;
        Duration rest = std::chrono::minutes(1);  // minimum time between two counts
    };

    // `store`, `locks` and `clock` must outlive the object.
    HistoryTrim(store::Store& store, lock::LockDriver& locks, const Clock& clock,
                const Options& options)
        : store_(store), locks_(locks), clock_(clock), options_(options) {}

    struct Answer {
        // Deleted by this call.
        std::size_t runs = 0;
        bool more = false;
    };

    // Deletes one batch, or counts whether anything has to be deleted.
    Result<Answer> RunOnce();

  private:
    // The runs of one age range.
    struct Slice {
        std::int64_t runs = 0;
        std::int64_t bytes_each = 0;
    };

    bool IsMine();
    Result<std::int64_t> TooMany(TimePoint now);
    Result<std::int64_t> TooManyRuns(TimePoint now);
    Result<std::int64_t> TooManyBytes(TimePoint now);
    Result<std::vector<Slice>> Slices(TimePoint now);
    Result<Slice> Look(TimePoint from, TimePoint until);

    store::Store& store_;
    lock::LockDriver& locks_;
    const Clock& clock_;
    const Options options_;
    // Rest of the excess found by the last count.
    std::int64_t to_delete_ = 0;
    std::optional<SteadyPoint> next_look_;
};

}  // namespace ksana::engine
