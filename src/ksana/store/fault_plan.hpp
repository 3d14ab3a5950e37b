#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/time.hpp"

namespace ksana::store {

enum class FaultKind : std::uint8_t {
    kNone,
    kErrorBefore,  // the call is not made; returns kUnavailable
    // The call is made; its success is returned as kUnavailable with the word "unknown".
    kErrorAfter,
    kDelay,       // the call is made after `delay`
    kLateAnswer,  // the call is made at once, and returns after `delay`
    kDuplicate,   // the call is made twice; the first result is returned
    kRefused,     // the call is not made; returns kInvalidArgument
};

struct Fault {
    FaultKind kind = FaultKind::kNone;
    Duration delay{};  // for kDelay and kLateAnswer
    friend bool operator==(const Fault&, const Fault&) = default;
};

// How often each kind occurs, per million calls.
struct FaultChances {
    std::uint32_t error_before = 0;
    std::uint32_t error_after = 0;
    std::uint32_t delay = 0;
    std::uint32_t duplicate = 0;
    std::uint32_t late_answer = 0;
    Duration longest_delay = std::chrono::seconds(1);
};

// Decides which fault each call of a FaultyStore gets. Operations have names like "runs.Submit",
// and each counts its calls from 1. A random fault depends on the seed, the operation and that
// count only, so calls of other operations or threads do not change it. Owned by the test.
// Thread-safe.
class FaultPlan {
  public:
    explicit FaultPlan(std::uint64_t seed = 0) : seed_(seed) {}

    // Injects `fault` into call number `ordinal`. Takes precedence over random faults.
    void At(std::string_view operation, std::int64_t ordinal, Fault fault);
    // Injects `fault` into the next call.
    void Next(std::string_view operation, Fault fault);
    // Injects random faults into the operations that begin with `operation_prefix`: "runs." means
    // every call of the run store, "" every call. The longest matching prefix applies.
    void Randomly(std::string_view operation_prefix, FaultChances chances);
    // Stops injecting faults; the counters stay.
    void Clear();

    // Counts a call that is about to be made and returns its fault.
    Fault Take(std::string_view operation);

    std::int64_t Calls(std::string_view operation) const;
    // Return how many faults of the kind were injected, in total or into one operation.
    std::int64_t Injected(FaultKind kind) const;
    std::int64_t Injected(FaultKind kind, std::string_view operation) const;

  private:
    Fault Draw(std::string_view operation, std::int64_t ordinal) const KSANA_REQUIRES(mutex_);

    const std::uint64_t seed_;
    mutable Mutex mutex_;
    std::map<std::string, std::int64_t, std::less<>> calls_ KSANA_GUARDED_BY(mutex_);
    std::map<std::pair<std::string, std::int64_t>, Fault> exact_ KSANA_GUARDED_BY(mutex_);
    std::map<std::string, FaultChances, std::less<>> chances_ KSANA_GUARDED_BY(mutex_);
    std::map<std::pair<FaultKind, std::string>, std::int64_t> injected_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::store
