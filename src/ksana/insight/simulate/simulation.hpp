#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/time/time.hpp"
#include "ksana/codec/schema/schema.hpp"
#include "ksana/model/enum_names.hpp"
#include "ksana/model/job/policy.hpp"
#include "ksana/schedule/cron/zoned_cron.hpp"

namespace ksana::insight {

// What became of the fires of a job.
struct SimCounts {
    std::int64_t fires = 0;
    std::int64_t runs = 0;        // started
    std::int64_t skipped = 0;     // an earlier run had not ended
    std::int64_t queued = 0;      // waited for an earlier run
    std::int64_t cancelled = 0;   // by a later fire
    std::int64_t excluded = 0;    // removed by the calendar
    std::int64_t dst = 0;         // fires moved by a clock change, or in an hour that occurs twice
    std::int64_t unfinished = 0;  // running or waiting at the end
    friend bool operator==(const SimCounts&, const SimCounts&) = default;

    void Add(const SimCounts& other);
};

struct SimJobOutcome {
    std::string id;
    model::OverlapPolicy overlap = model::OverlapPolicy::kSkip;
    Duration duration{};    // of each run
    bool measured = false;  // `duration` is the median of its runs, not an assumption
    bool paused = false;    // does not fire
    SimCounts counts;
    std::optional<Duration> longest_wait;  // for a slot
    std::string error;                     // why its schedule cannot be compiled
    friend bool operator==(const SimJobOutcome&, const SimJobOutcome&) = default;
};

enum class SimExampleKind : std::uint8_t { kSkipped, kQueued, kCancelled, kDst };

struct SimExample {
    SimExampleKind kind = SimExampleKind::kSkipped;
    std::string job_id;
    TimePoint at{};
    schedule::DstNote dst = schedule::DstNote::kNone;
    friend bool operator==(const SimExample&, const SimExample&) = default;
};

// The load per minute.
struct SimLoad {
    std::vector<std::int32_t> starts;
    // The maximum of concurrent runs in each minute. Runs that touch the same second count as
    // concurrent (the same minute if the window is longer than kSecondsWindow).
    std::vector<std::int32_t> running;
    std::int64_t max_starts = 0;  // in a minute
    TimePoint max_starts_at{};
    std::int64_t max_running = 0;
    TimePoint max_running_at{};
    friend bool operator==(const SimLoad&, const SimLoad&) = default;
};

// Statistics of runs that were ready and found no slot.
struct SimWaits {
    std::int64_t slots = 0;
    std::int64_t runs = 0;  // that had to wait
    Duration longest{};
    TimePoint longest_at{};
    Duration average{};            // over the runs that had to wait
    std::int64_t max_waiting = 0;  // at once
    friend bool operator==(const SimWaits&, const SimWaits&) = default;
};

struct Simulation {
    TimePoint from{};
    TimePoint to{};
    bool complete = true;  // false: too many jobs, or stopped early
    std::int64_t jobs = 0;
    std::int64_t paused = 0;
    std::int64_t broken = 0;
    SimCounts totals;
    std::vector<SimJobOutcome> outcomes;  // by id
    std::vector<SimExample> examples;     // a few of each kind
    SimLoad load;
    std::optional<SimWaits> waits;  // set if slots were limited
};

// The load is written as two arrays with a number for each minute from `from` on.
std::string SimulationToJson(const Simulation& simulation);
extern const codec::NamedSchema kSimulationSchema;

}  // namespace ksana::insight

template <>
struct ksana::model::EnumNames<ksana::insight::SimExampleKind> {
    static constexpr std::array<std::string_view, 4> kNames = {"skipped", "queued", "cancelled",
                                                               "dst"};
};
