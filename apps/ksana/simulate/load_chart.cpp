#include "apps/ksana/simulate/load_chart.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "ksana/base/time/time_text.hpp"

namespace ksana::app {
namespace {

constexpr std::int64_t kDay = 1440;
constexpr std::array<std::int64_t, 12> kSteps = {1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, kDay};
constexpr std::size_t kEighths = 8;
constexpr std::array<std::string_view, kEighths + 1> kBlocks = {" ", "▁", "▂", "▃", "▄",
                                                                "▅", "▆", "▇", "█"};
constexpr std::size_t kLeastColumns = 24;  // the least readable width

std::vector<std::int64_t> Fold(const ChartInput& input, std::int64_t step) {
    std::vector<std::int64_t> values;
    for (std::size_t n = 0; n < input.minutes.size(); ++n) {
        const std::size_t column = n / static_cast<std::size_t>(step);
        if (column == values.size()) values.push_back(0);
        std::int64_t& value = values[column];
        value = input.add ? value + input.minutes[n] : std::max(value, input.minutes[n]);
    }
    return values;
}

// Formats "2026-11-16T14:22Z", without seconds.
std::string MinuteText(TimePoint instant) { return FormatTime(instant).substr(0, 16) + "Z"; }

// Returns the character for one row of a value that is `eighths` high; row 0 is the lowest.
std::string_view Piece(std::size_t eighths, std::size_t row, bool blocks) {
    const std::size_t below = row * kEighths;
    if (eighths <= below) return " ";
    const std::size_t part = std::min(eighths - below, kEighths);
    if (blocks) return kBlocks.at(part);
    // '#' stands for at least half a character; the lowest row shows any value that is not zero.
    return part >= kEighths / 2 || row == 0 ? "#" : " ";
}

std::string WithoutTrailingBlanks(std::string line) {
    while (line.ends_with(' ')) line.pop_back();
    return line;
}

}  // namespace

std::int64_t MinutesPerColumn(std::size_t minutes, std::size_t columns) {
    const auto fits = [&](std::int64_t step) {
        const auto wide = static_cast<std::size_t>(step);
        return (minutes + wide - 1) / wide <= columns;
    };
    const auto* const found = std::ranges::find_if(kSteps, fits);
    if (found != kSteps.end()) return *found;
    std::int64_t days = 2;
    while (!fits(days * kDay)) ++days;
    return days * kDay;
}

Chart LoadChart(const ChartInput& input, const ChartStyle& style) {
    if (input.minutes.empty()) return {};
    const std::int64_t largest = *std::ranges::max_element(input.minutes);
    // Adding up minutes may make the largest number, and with it the axis, wider.
    const std::size_t width = std::max(style.columns, kLeastColumns);
    std::size_t axis = fmt::format("{}", largest).size() + 2;
    std::int64_t step = MinutesPerColumn(input.minutes.size(), width - axis);
    std::vector<std::int64_t> values = Fold(input, step);
    std::int64_t top = *std::ranges::max_element(values);
    if (const std::size_t wanted = fmt::format("{}", top).size() + 2; wanted > axis) {
        axis = wanted;
        step = MinutesPerColumn(input.minutes.size(), width - axis);
        values = Fold(input, step);
        top = *std::ranges::max_element(values);
    }
    const std::size_t rows = std::clamp<std::size_t>(style.rows, 1, 40);
    const std::size_t full = rows * kEighths;
    std::vector<std::size_t> heights;
    for (const std::int64_t value : values) {
        const auto height =
            top == 0 ? 0 : static_cast<std::size_t>(value) * full / static_cast<std::size_t>(top);
        heights.push_back(value > 0 ? std::max<std::size_t>(height, 1) : 0);
    }
    std::string text;
    for (std::size_t row = rows; row-- > 0;) {
        const std::string mark = row + 1 == rows ? fmt::format("{}", top) : "";
        std::string line = fmt::format("{:>{}} |", mark, axis - 2);
        for (const std::size_t height : heights) line += Piece(height, row, style.blocks);
        text += WithoutTrailingBlanks(std::move(line)) + "\n";
    }
    text += fmt::format("{:>{}} +{:-<{}}\n", 0, axis - 2, "", values.size());
    const std::string begin = MinuteText(input.from);
    const auto length = std::chrono::minutes(static_cast<std::int64_t>(input.minutes.size()));
    const std::string end = MinuteText(input.from + length);
    const std::size_t room = std::max(values.size(), begin.size() + end.size() + 1);
    text += fmt::format("{:>{}}{}{:>{}}\n", "", axis, begin, end, room - begin.size());
    return {std::move(text), step};
}

}  // namespace ksana::app
