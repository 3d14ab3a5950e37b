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

// What the fires of one job come to.
struct SimCounts {
    std::int64_t fires = 0;
    std::int64_t runs = 0;        // that started
    std::int64_t skipped = 0;     // an earlier run was not over
    std::int64_t queued = 0;      // waited for an earlier run
    std::int64_t cancelled = 0;   // a later fire took its place
    std::int64_t excluded = 0;    // taken away by the calendar
    std::int64_t dst = 0;         // fires that clocks moved, or that fall on one of two passes
    std::int64_t unfinished = 0;  // at the end: running, or still waiting
    friend bool operator==(const SimCounts&, const SimCounts&) = default;

    void Add(const SimCounts& other);
};

struct SimJobOutcome {
    std::string id;
    model::OverlapPolicy overlap = model::OverlapPolicy::kSkip;
    Duration duration{};    // of each run
    bool measured = false;  // that is the median of its runs, not an assumption
    bool paused = false;    // it does not fire
    SimCounts counts;
    std::optional<Duration> longest_wait;  // for a slot
    std::string error;                     // its schedule cannot be compiled
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

// How busy it gets, minute by minute.
struct SimLoad {
    std::vector<std::int32_t> starts;
    // The most that run at once within the minute; what touches the same second counts as at once
    // (the same minute where the window is longer than kSecondsWindow).
    std::vector<std::int32_t> running;
    std::int64_t max_starts = 0;  // in a minute
    TimePoint max_starts_at{};
    std::int64_t max_running = 0;
    TimePoint max_running_at{};
    friend bool operator==(const SimLoad&, const SimLoad&) = default;
};

// Of runs that were ready and found no slot.
struct SimWaits {
    std::int64_t slots = 0;
    std::int64_t runs = 0;  // that had to wait
    Duration longest{};
    TimePoint longest_at{};
    Duration average{};            // of those that had to wait
    std::int64_t max_waiting = 0;  // at once
    friend bool operator==(const SimWaits&, const SimWaits&) = default;
};

struct Simulation {
    TimePoint from{};
    TimePoint to{};
    bool complete = true;  // false: there are more jobs than were looked at, or it was stopped
    std::int64_t jobs = 0;
    std::int64_t paused = 0;
    std::int64_t broken = 0;
    SimCounts totals;
    std::vector<SimJobOutcome> outcomes;  // by id
    std::vector<SimExample> examples;     // a few of each kind
    SimLoad load;
    std::optional<SimWaits> waits;  // where slots were limited
};

// With the load as two arrays, a number for each minute from `from` on.
std::string SimulationToJson(const Simulation& simulation);
extern const codec::NamedSchema kSimulationSchema;

}  // namespace ksana::insight

template <>
struct ksana::model::EnumNames<ksana::insight::SimExampleKind> {
    static constexpr std::array<std::string_view, 4> kNames = {"skipped", "queued", "cancelled",
                                                               "dst"};
};
