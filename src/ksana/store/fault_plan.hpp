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
    kErrorBefore,  // nothing is done, kUnavailable
    kErrorAfter,   // done, but the caller gets kUnavailable with "unknown"
    kDelay,        // done later
    kDuplicate,    // done twice; the first answer is returned
};

struct Fault {
    FaultKind kind = FaultKind::kNone;
    Duration delay{};  // of kDelay
    friend bool operator==(const Fault&, const Fault&) = default;
};

// Chances of each kind, out of a million calls.
struct FaultChances {
    std::uint32_t error_before = 0;
    std::uint32_t error_after = 0;
    std::uint32_t delay = 0;
    std::uint32_t duplicate = 0;
    Duration longest_delay = std::chrono::seconds(1);
};

// Decides what happens to each call of a FaultyStore. Operations are named like "runs.Submit", and
// each counts its calls from 1. A chance is drawn from the seed, the operation and that count
// alone, so that calls of other operations, or of other threads, change nothing. Thread-safe.
class FaultPlan {
  public:
    explicit FaultPlan(std::uint64_t seed = 0) : seed_(seed) {}

    // For one call; goes before the chances.
    void At(std::string_view operation, std::int64_t ordinal, Fault fault);
    // For the next call.
    void Next(std::string_view operation, Fault fault);
    // For every call of an operation, "runs." for all of a role, "" for all. The longest name that
    // fits counts.
    void Randomly(std::string_view operation_prefix, FaultChances chances);
    // No more faults from here on.
    void Clear();

    // What the call that now begins gets; counts it.
    Fault Take(std::string_view operation);

    std::int64_t Calls(std::string_view operation) const;
    // So many faults of a kind were given out; of one operation, or of all.
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
