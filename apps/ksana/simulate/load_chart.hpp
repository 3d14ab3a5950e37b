#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ksana/base/time/time.hpp"

namespace ksana::app {

// The data of a chart: one number for each minute.
struct ChartInput {
    std::span<const std::int64_t> minutes;
    TimePoint from{};
    bool add = false;  // minutes in one column: true adds them up, false takes the largest
};

struct ChartStyle {
    std::size_t columns = 80;  // total width, including the axis
    std::size_t rows = 8;
    bool blocks = false;  // draw with eighth blocks (U+2581…), else with '#'
};

// Returns how many minutes a column stands for: the least of 1, 2, 5, 10, 15, 30, 60, 120, 180,
// 360, 720 and whole days with which all minutes fit.
std::int64_t MinutesPerColumn(std::size_t minutes, std::size_t columns);

struct Chart {
    std::string text;               // lines; empty if there are no minutes
    std::int64_t step_minutes = 1;  // minutes in one column
};

// Draws columns over an axis with the times of both ends, at most style.columns wide if that is 50
// or more. Every number that is not zero is visible.
Chart LoadChart(const ChartInput& input, const ChartStyle& style);

}  // namespace ksana::app
