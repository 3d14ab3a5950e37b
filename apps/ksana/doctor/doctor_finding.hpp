#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/time/time.hpp"

namespace ksana::app {

// The result of one check of `ksana doctor`.
struct Finding {
    enum class Level : std::uint8_t { kOk, kWarn, kFail };
    std::string check;  // "store"
    Level level = Level::kOk;
    std::string found;   // the observed state
    std::string advice;  // what to do about it; empty if all is well
};

std::string_view NameOf(Finding::Level level);  // "ok", "warn", "fail"

// The functions below judge measurements; doctor_checks.hpp takes them.

struct DiskFacts {
    std::string folder;
    std::uint64_t free_bytes = 0;
    std::uint64_t total_bytes = 0;
    std::uint64_t free_files = 0;   // inodes
    std::uint64_t total_files = 0;  // 0: the file system does not count inodes
};
Finding JudgeDisk(const DiskFacts& facts);

// `times`: durations of durable writes of a few kilobytes.
Finding JudgeSync(const std::string& folder, std::vector<Duration> times);

// `workers`: maximum number of calls in flight.
Finding JudgeDescriptors(std::uint64_t limit, std::int32_t workers);

struct ClockFacts {
    TimePoint now{};
    std::optional<bool> synchronised;  // none: unknown
    Duration error{};                  // largest error that the kernel assumes
    Duration wall_moved{};             // progress of both clocks during the checks
    Duration steady_moved{};
};
Finding JudgeClock(const ClockFacts& facts);

// `version`: "2026a", or "" if unknown; `found`: whether the zone files can be read at all.
Finding JudgeZones(const std::string& version, bool found, TimePoint now);

}  // namespace ksana::app
