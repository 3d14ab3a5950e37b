#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// About how many bytes a store needs for a finished run: its texts, and for its rows and the
// entries of indexes a number that was guessed (docs/operations.md).
std::int64_t SizeOfRun(const model::Run& run);

// Keeps finished runs within a number and a size by deleting those that ended first. Asks now and
// then how many there are; how large they are is estimated from a few of each age. One of the nodes
// does it at a time: two that have seen the same runs too many would delete twice as many. One
// thread.
class HistoryTrim {
  public:
    struct Options {
        std::int64_t max_runs = 0;   // 0: any number
        std::int64_t max_bytes = 0;  // 0: any size
        std::string owner = "local";
        std::size_t batch = 500;
        Duration rest = std::chrono::minutes(1);  // between two looks, at least
    };

    // What is given must outlive it.
    HistoryTrim(store::Store& store, const Clock& clock, const Options& options)
        : store_(store), clock_(clock), options_(options) {}

    struct Answer {
        std::size_t runs = 0;
        bool more = false;
    };

    // One batch, or a look whether there is one.
    Result<Answer> RunOnce();

  private:
    // Runs of one age.
    struct Slice {
        std::int64_t runs = 0;
        std::int64_t bytes_each = 0;
    };

    Result<bool> IsMine();
    Result<std::int64_t> TooMany(TimePoint now);
    Result<std::int64_t> TooManyRuns(TimePoint now);
    Result<std::int64_t> TooManyBytes(TimePoint now);
    Result<std::vector<Slice>> Slices(TimePoint now);
    Result<Slice> Look(TimePoint from, TimePoint until);

    store::Store& store_;
    const Clock& clock_;
    const Options options_;
    std::int64_t to_delete_ = 0;
    std::optional<SteadyPoint> next_look_;
};

}  // namespace ksana::engine
