#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/time.hpp"

namespace ksana::telemetry {

// One observation as an example of those that a sample counts.
struct Exemplar {
    std::string trace_id;  // hexadecimal; at most kMaxTraceId
    TimePoint at{};
    double value = 0;
};

// OpenMetrics allows 128 characters for all names and values of an exemplar's labels.
inline constexpr std::size_t kMaxTraceId = 128 - sizeof("trace_id") + 1;

// The latest exemplar of each slot: a bucket of a histogram, or a counter. A slot takes one after a
// scrape has asked for it, so that however many observations there are, at most one per slot and
// scrape costs more than an atomic load, and none where no scrape asks. Thread-safe.
class ExemplarSlots {
  public:
    explicit ExemplarSlots(std::size_t slots) : wanted_(slots) {}

    // Keeps what `make` returns, if a scrape has asked for it since. `make` returns an Exemplar,
    // without its value.
    template <class Make>
    void Offer(std::size_t slot, double value, const Make& make) {
        if (!wanted_[slot].load(std::memory_order_relaxed)) return;
        if (!wanted_[slot].exchange(false, std::memory_order_relaxed)) return;
        Exemplar exemplar = make();
        exemplar.value = value;
        Keep(slot, std::move(exemplar));
    }

    // Returns the exemplar, if there is one, and asks for the next.
    std::optional<Exemplar> Take(std::size_t slot) const;

  private:
    // Ignores an exemplar whose trace id is empty or too long.
    void Keep(std::size_t slot, Exemplar exemplar);

    mutable std::vector<std::atomic<bool>> wanted_;
    mutable Mutex mutex_;
    std::vector<std::optional<Exemplar>> kept_ KSANA_GUARDED_BY(mutex_);  // empty: none yet
};

}  // namespace ksana::telemetry
