#include "apps/ksana/doctor/doctor_finding.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "ksana/base/time/time_text.hpp"

namespace ksana::app {
namespace {

using Level = Finding::Level;
using std::chrono::milliseconds;

constexpr std::uint64_t kMegabyte = 1'000'000;
constexpr std::uint64_t kLittleSpace = 1000 * kMegabyte;
constexpr std::uint64_t kNoSpace = 100 * kMegabyte;
constexpr Duration kSlowSync = milliseconds(20);
constexpr Duration kUnusableSync = milliseconds(1000);
constexpr std::uint64_t kFewDescriptors = 4096;
// Descriptors for the store, the log, the listener and the libraries.
constexpr std::uint64_t kOwnDescriptors = 64;
constexpr Duration kJump = milliseconds(100);
constexpr Duration kLargeError = milliseconds(1000);
// This program did not exist before: an earlier time is wrong.
constexpr auto kEarliest = std::chrono::sys_days(std::chrono::year(2026) / 1 / 1);

std::string SizeText(std::uint64_t bytes) {
    return bytes >= 10'000 * kMegabyte ? fmt::format("{} GB", bytes / (1000 * kMegabyte))
                                       : fmt::format("{} MB", bytes / kMegabyte);
}

int YearOf(TimePoint instant) {
    return static_cast<int>(
        std::chrono::year_month_day(std::chrono::floor<std::chrono::days>(instant)).year());
}

}  // namespace

std::string_view NameOf(Level level) {
    switch (level) {
        case Level::kOk:
            return "ok";
        case Level::kWarn:
            return "warn";
        case Level::kFail:
            break;
    }
    return "fail";
}

Finding JudgeDisk(const DiskFacts& facts) {
    Finding finding{"disk", Level::kOk,
                    fmt::format("{}: {} free of {}", facts.folder, SizeText(facts.free_bytes),
                                SizeText(facts.total_bytes)),
                    ""};
    if (facts.free_bytes < kNoSpace) {
        finding.level = Level::kFail;
        finding.advice = "make room, or put data_dir on another disk: a full disk stops every job";
    } else if (facts.free_bytes < kLittleSpace) {
        finding.level = Level::kWarn;
        finding.advice = "make room, or shorten `retention` so that finished runs go earlier";
    } else if (facts.total_files > 0 && facts.free_files < facts.total_files / 100) {
        finding.level = Level::kWarn;
        finding.found += fmt::format(", {} inodes left", facts.free_files);
        finding.advice = "delete small files: the disk has nearly no inodes left";
    }
    return finding;
}

Finding JudgeSync(const std::string& folder, std::vector<Duration> times) {
    std::ranges::sort(times);
    const Duration median = times.empty() ? Duration{} : times[times.size() / 2];
    Finding finding{"fsync", Level::kOk,
                    fmt::format("{}: {} until a write is durable", folder, FormatDuration(median)),
                    ""};
    if (median > kUnusableSync) {
        finding.level = Level::kFail;
        finding.advice = "use a local disk: every start of a run waits for one such write";
    } else if (median > kSlowSync) {
        finding.level = Level::kWarn;
        finding.advice =
            "a faster disk would start runs sooner; a network file system is no place "
            "for a store";
    }
    return finding;
}

Finding JudgeDescriptors(std::uint64_t limit, std::int32_t workers) {
    const std::uint64_t needed = static_cast<std::uint64_t>(std::max(workers, 0)) + kOwnDescriptors;
    Finding finding{"descriptors", Level::kOk,
                    fmt::format("{} files and sockets at once, {} workers", limit, workers), ""};
    if (limit < needed) {
        finding.level = Level::kFail;
        finding.advice = fmt::format(
            "raise the limit to {} or more (ulimit -n, LimitNOFILE= of systemd), or lower workers",
            std::max(needed * 2, kFewDescriptors));
    } else if (limit < kFewDescriptors) {
        finding.level = Level::kWarn;
        finding.advice = fmt::format(
            "raise the limit to {} (ulimit -n, LimitNOFILE= of systemd): every client that is "
            "connected takes one",
            kFewDescriptors);
    }
    return finding;
}

Finding JudgeClock(const ClockFacts& facts) {
    Finding finding{"clock", Level::kOk, FormatTime(facts.now), ""};
    const Duration jumped = std::chrono::abs(facts.wall_moved - facts.steady_moved);
    if (facts.now < TimePoint(kEarliest)) {
        finding.level = Level::kFail;
        finding.advice = "set the clock: this is before the program was made";
    } else if (jumped > kJump) {
        finding.level = Level::kWarn;
        finding.found += fmt::format(", set by {} while we looked", FormatDuration(jumped));
        finding.advice = "find out who sets the clock in steps; a time service slews it";
    } else if (!facts.synchronised) {
        finding.found += "; whether it is synchronised cannot be known here";
    } else if (!*facts.synchronised) {
        finding.level = Level::kWarn;
        finding.found += ", not synchronised";
        finding.advice = "run a time service (systemd-timesyncd, chrony): jobs fire by this clock";
    } else if (facts.error > kLargeError) {
        finding.level = Level::kWarn;
        finding.found += fmt::format(", perhaps {} off", FormatDuration(facts.error));
        finding.advice = "look at the time service: it has not heard from its servers for long";
    } else {
        finding.found += ", synchronised";
    }
    return finding;
}

Finding JudgeZones(const std::string& version, bool found, TimePoint now) {
    if (!found) {
        return {"tzdata", Level::kFail, "no time zones can be read",
                "install the package tzdata: schedules with a zone cannot run without it"};
    }
    if (version.empty()) {
        return {"tzdata", Level::kOk, "there, without a version", ""};
    }
    Finding finding{"tzdata", Level::kOk, "version " + version, ""};
    int year = 0;
    std::from_chars(version.data(), version.data() + version.size(), year);
    if (year > 0 && YearOf(now) - year >= 2) {
        finding.level = Level::kWarn;
        finding.found += fmt::format(", of {}", year);
        finding.advice = "update the package tzdata: countries change their clocks every year";
    }
    return finding;
}

}  // namespace ksana::app
