#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ksana/declare.hpp"
#include "ksana/schedule/schedule.hpp"
#include "ksana/scheduler.hpp"
#include "ksana/sdk/threads/timer_heap.hpp"

namespace ksana::sdk {

// What a declaration says about a job, and its compiled schedule. Jobs that say the same share it,
// so what usually differs is in JobEntry. Immutable.
struct JobPolicy {
    JobSpec spec;                                 // without id, `enabled`, rate and delay
    std::optional<schedule::Schedule> cron = {};  // none: fixed rate
};

inline constexpr std::int64_t kNoTime = INT64_MIN;

// A number that its owner writes and any thread reads. Readers may see it a moment late, so it
// needs no order with other memory.
template <class T>
class Shown {
  public:
    explicit Shown(T value) : value_(value) {}
    operator T() const { return value_.load(std::memory_order_relaxed); }
    Shown& operator=(T value) {
        value_.store(value, std::memory_order_relaxed);
        return *this;
    }
    void Add(T count) { value_.fetch_add(count, std::memory_order_relaxed); }

  private:
    std::atomic<T> value_;
};

// A job of a scheduler and its state: at most one run at a time. There may be 100,000 of them, so
// the members are few. The item is its timer.
//
// The thread that has set kBusy owns the run and alone writes the counts; any thread may read them.
struct JobEntry : WorkItem {
    // Bits of `flags`.
    static constexpr std::uint8_t kBusy = 1;      // a run is queued, running or waits for its retry
    static constexpr std::uint8_t kDue = 2;       // the timer fired while it was busy
    static constexpr std::uint8_t kRemoved = 4;   // no further runs
    static constexpr std::uint8_t kRetrying = 8;  // the timer is that of a retry
    static constexpr std::uint8_t kArmLater = 16;  // to be armed when the run is over

    JobEntry(Body fire, void* timer, std::string name)
        : WorkItem(fire), owner(timer), id(std::move(name)) {}

    // Makes the object ready for another job. Only while kBusy is set by the caller.
    void Reset(std::string name) {
        id = std::move(name);
        object = {};
        policy.reset();
        flags = kBusy;
        last_result = -1;
        failures = 0;
        nominal = kNoTime;
        last_fire = kNoTime;
        last_duration = kNoTime;
        for (auto* count : {&run_count, &fail_count, &skip_count, &miss_count}) *count = 0;
    }

    // Sets kBusy. Returns false if it was set before; then sets `otherwise`.
    bool Occupy(std::uint8_t otherwise = 0) {
        std::uint8_t old = flags.load();
        for (;;) {
            const bool busy = (old & kBusy) != 0;
            const auto wanted = static_cast<std::uint8_t>(old | (busy ? otherwise : kBusy));
            if (flags.compare_exchange_weak(old, wanted)) return !busy;
        }
    }
    // Clears what belongs to a run, and returns what was set.
    std::uint8_t Free() { return flags.fetch_and(kRemoved); }
    // Sets the flag if kBusy is set, and returns whether it was.
    bool MarkIfBusy(std::uint8_t flag) {
        std::uint8_t old = flags.load();
        while ((old & kBusy) != 0) {
            if (flags.compare_exchange_weak(old, static_cast<std::uint8_t>(old | flag)))
                return true;
        }
        return false;
    }
    bool Has(std::uint8_t flag) const { return (flags.load() & flag) != 0; }

    void* const owner;  // of the timer: who fires it
    std::string id;     // changes only when the object is used for another job
    detail::JobObject object;
    std::shared_ptr<const JobPolicy> policy;
    Duration fixed_rate{};  // zero: by cron
    Duration initial_delay{};
    std::atomic<std::uint8_t> flags{0};
    std::atomic<bool> enabled{true};
    bool declared = false;                       // by KSANA_JOB
    Shown<std::int8_t> last_result{-1};          // a JobResult; -1: none
    std::int32_t failures = 0;                   // of the present run
    Shown<std::int64_t> nominal{kNoTime};        // of the next fire, epoch microseconds
    Shown<std::int64_t> last_fire{kNoTime};      // epoch milliseconds
    Shown<std::int64_t> last_duration{kNoTime};  // milliseconds
    Shown<std::int64_t> run_count{0};
    Shown<std::int64_t> fail_count{0};
    Shown<std::int64_t> skip_count{0};
    Shown<std::int64_t> miss_count{0};
};

}  // namespace ksana::sdk
