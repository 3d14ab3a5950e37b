#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ksana/base/time/time.hpp"

namespace ksana::app {

// What a chart is drawn of: a number for each minute.
struct ChartInput {
    std::span<const std::int64_t> minutes;
    TimePoint from{};
    bool add = false;  // minutes that share a column: added up; else the largest counts
};

struct ChartStyle {
    std::size_t columns = 80;  // of the whole, the axis included
    std::size_t rows = 8;
    bool blocks = false;  // eighths of a character by U+2581…; else '#'
};

// How many minutes a column stands for: the least of 1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720
// and whole days with which they all fit.
std::int64_t MinutesPerColumn(std::size_t minutes, std::size_t columns);

struct Chart {
    std::string text;               // lines; empty where there are no minutes
    std::int64_t step_minutes = 1;  // that a column stands for
};

// Columns over an axis with the times of both ends, at most style.columns wide. Every number that
// is not zero can be seen.
Chart LoadChart(const ChartInput& input, const ChartStyle& style);

}  // namespace ksana::app
