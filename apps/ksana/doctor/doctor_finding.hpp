#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/time/time.hpp"

namespace ksana::app {

// What `ksana doctor` says about one thing.
struct Finding {
    enum class Level : std::uint8_t { kOk, kWarn, kFail };
    std::string check;  // "store"
    Level level = Level::kOk;
    std::string found;   // what is the case
    std::string advice;  // what to do about it; empty where all is well
};

std::string_view NameOf(Finding::Level level);  // "ok", "warn", "fail"

// How measurements are judged, apart from how they are made.

struct DiskFacts {
    std::string folder;
    std::uint64_t free_bytes = 0;
    std::uint64_t total_bytes = 0;
    std::uint64_t free_files = 0;   // inodes
    std::uint64_t total_files = 0;  // 0: the file system does not count them
};
Finding JudgeDisk(const DiskFacts& facts);

// `times`: of writes of a few kilobytes, each made durable.
Finding JudgeSync(const std::string& folder, std::vector<Duration> times);

// `workers`: calls under way at once.
Finding JudgeDescriptors(std::uint64_t limit, std::int32_t workers);

struct ClockFacts {
    TimePoint now{};
    std::optional<bool> synchronised;  // none: the system does not tell
    Duration error{};                  // the most that the kernel thinks it is off
    Duration wall_moved{};             // by the wall clock and by the monotonic one, meanwhile
    Duration steady_moved{};
};
Finding JudgeClock(const ClockFacts& facts);

// `version`: "2026a" or ""; `found`: whether zones can be read at all.
Finding JudgeZones(const std::string& version, bool found, TimePoint now);

}  // namespace ksana::app
