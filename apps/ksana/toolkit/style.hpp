#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/ksana/toolkit/command_line.hpp"
#include "apps/ksana/toolkit/process.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"

namespace ksana::app {

enum class Format : std::uint8_t { kTable, kWide, kJson, kJsonLines, kName };
enum class TimeFormat : std::uint8_t { kRelative, kIso, kRaw };

// Colours by what they mean.
enum class Hue : std::uint8_t { kNone, kHead, kGood, kBad, kWarn, kBusy, kFaint };

// How answers are shown to whoever reads them.
struct Style {
    Format format = Format::kTable;
    TimeFormat time = TimeFormat::kIso;
    std::vector<std::string> fields;  // JSON Pointers; empty: what the command chooses
    bool colour = false;              // of the output
    bool error_colour = false;        // of messages
    std::size_t columns = 80;
    TimePoint now{};

    bool IsTable() const { return format == Format::kTable || format == Format::kWide; }
    std::string Paint(Hue hue, std::string_view text) const;
    // The same for standard error.
    std::string PaintError(Hue hue, std::string_view text) const;

    // A time of the API as this style shows it. What is no time stays as it is.
    std::string Time(const std::string& text) const;
};

// From the shared options and from what the process is connected to.
Style StyleOf(const Arguments& arguments, const Process& process);

// "5m ago", "in 3h", "now": the largest unit, and a second one where that says more.
std::string RelativeTime(TimePoint instant, TimePoint now);

// Of the states of runs, of jobs and of services.
Hue HueOf(std::string_view state);

}  // namespace ksana::app
