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

Table::Table(std::vector<Title> titles) : titles_(std::move(titles)) {}

void Table::Add(std::vector<Cell> row) {
    KSANA_CHECK(row.size() == titles_.size(), "a row has a cell for every title");
    for (Cell& cell : row) cell.text = Printable(cell.text);
    rows_.push_back(std::move(row));
}

// Of those that are as firm as this; their number where there is none.
std::size_t Table::Widest(const std::vector<std::size_t>& widths, bool firm) const {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i) {
        if (titles_[i].firm != firm) continue;
        if (widest == widths.size() || widths[i] > widths[widest]) widest = i;
    }
    return widest;
}

std::vector<std::size_t> Table::Widths(std::size_t columns, bool cut) const {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < titles_.size(); ++i) {
        std::size_t width = TextWidth(titles_[i].text);
        for (const auto& row : rows_) width = std::max(width, TextWidth(row[i].text));
        widths.push_back(width);
    }
    if (!cut || widths.empty()) return widths;
    std::size_t total = std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
    for (const bool firm : {false, true}) {
        while (total > columns) {
            const std::size_t widest = Widest(widths, firm);
            if (widest == widths.size() || widths[widest] <= kNarrowest) break;
            --widths[widest];
            --total;
        }
    }
    return widths;
}

std::string Table::Text(const Style& style, bool cut) const {
    const std::vector<std::size_t> widths = Widths(style.columns, cut);
    std::string text;
    for (std::size_t i = 0; i < titles_.size(); ++i) {
        Append(text, style, {titles_[i].text, Hue::kHead}, widths[i]);
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
