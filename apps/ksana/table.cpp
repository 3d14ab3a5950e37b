#include "ksana/table.hpp"

#include <algorithm>
#include <numeric>

#include "ksana/base/check.hpp"
#include "ksana/base/utf8.hpp"
#include "ksana/text_width.hpp"

namespace ksana::app {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 4;

void Append(std::string& line, const Style& style, const Cell& cell, std::size_t width) {
    const std::string cut = CutToWidth(cell.text, width);
    line += style.Paint(cell.hue, cut);
    line.append(width + kGap - std::min(width + kGap, TextWidth(cut)), ' ');
}

// Blanks at the end are of the layout only: a painted cell ends with its colour.
void EndLine(std::string& line) {
    line.erase(line.find_last_not_of(' ') + 1);
    line += '\n';
}

}  // namespace

Table::Table(std::vector<std::string> titles) : titles_(std::move(titles)) {}

void Table::Add(std::vector<Cell> row) {
    KSANA_CHECK(row.size() == titles_.size(), "a row has a cell for every title");
    for (Cell& cell : row) cell.text = Printable(cell.text);
    rows_.push_back(std::move(row));
}

std::vector<std::size_t> Table::Widths(std::size_t columns, bool cut) const {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < titles_.size(); ++i) {
        std::size_t width = TextWidth(titles_[i]);
        for (const auto& row : rows_) width = std::max(width, TextWidth(row[i].text));
        widths.push_back(width);
    }
    if (!cut || widths.empty()) return widths;
    const std::size_t gaps = kGap * (widths.size() - 1);
    std::size_t total = std::accumulate(widths.begin(), widths.end(), gaps);
    while (total > columns) {
        auto widest = std::max_element(widths.begin() + 1, widths.end());
        // The first column is what one copies: cut only when nothing else is left.
        if (widest == widths.end() || *widest <= kNarrowest) widest = widths.begin();
        if (*widest <= kNarrowest) break;
        --*widest;
        --total;
    }
    return widths;
}

std::string Table::Text(const Style& style, bool cut) const {
    const std::vector<std::size_t> widths = Widths(style.columns, cut);
    std::string text;
    for (std::size_t i = 0; i < titles_.size(); ++i) {
        Append(text, style, {titles_[i], Hue::kHead}, widths[i]);
    }
    EndLine(text);
    for (const auto& row : rows_) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) Append(line, style, row[i], widths[i]);
        EndLine(line);
        text += line;
    }
    return text;
}

}  // namespace ksana::app
