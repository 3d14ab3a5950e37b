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

// Colours, named by their meaning.
enum class Hue : std::uint8_t { kNone, kHead, kGood, kBad, kWarn, kBusy, kFaint };

// How output is formatted: for people on a terminal, or for programs. A value, made once for each
// command.
struct Style {
    Format format = Format::kTable;
    TimeFormat time = TimeFormat::kIso;
    std::vector<std::string> fields;  // JSON Pointers; empty: the command's default
    bool colour = false;              // for standard output
    bool error_colour = false;        // for standard error
    std::size_t columns = 80;
    TimePoint now{};

    bool IsTable() const { return format == Format::kTable || format == Format::kWide; }
    std::string Paint(Hue hue, std::string_view text) const;
    // Paint() for standard error.
    std::string PaintError(Hue hue, std::string_view text) const;

    // Formats a time of the API. A text that is no time is returned unchanged.
    std::string Time(const std::string& text) const;
};

// Builds the style from the shared options and from the terminal.
Style StyleOf(const Arguments& arguments, const Process& process);

// Formats as "5m ago", "in 3h" or "now". Small counts of hours or minutes get a second unit: "in
// 3h20m".
std::string RelativeTime(TimePoint instant, TimePoint now);

// Returns the colour for a state of a run, job or service.
Hue HueOf(std::string_view state);

}  // namespace ksana::app
