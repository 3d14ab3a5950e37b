#include "apps/ksana/toolkit/table.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

#include "ksana/base/error/check.hpp"
#include "ksana/base/text/utf8.hpp"

namespace ksana::app {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 4;

void Append(std::string& line, const Style& style, const Cell& cell, std::size_t width) {
    const std::string cut = CutToWidth(cell.text, width);
    line += style.Paint(cell.hue, cut);
    line.append(width + kGap - std::min(width + kGap, TextWidth(cut)), ' ');
}

// Trims blanks of the layout only: a painted cell ends with its colour code.
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

// Returns the widest column that is firm or not, as `firm` says; the number of columns if there is
// none.
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

namespace {

struct Range {
    std::uint32_t first;
    std::uint32_t last;
};

// Combining marks, joiners and variation selectors.
constexpr std::array<Range, 11> kNoWidth = {{{0x0300, 0x036F},
                                             {0x0483, 0x0489},
                                             {0x0591, 0x05BD},
                                             {0x0610, 0x061A},
                                             {0x064B, 0x065F},
                                             {0x0E34, 0x0E3A},
                                             {0x1AB0, 0x1AFF},
                                             {0x1DC0, 0x1DFF},
                                             {0x200B, 0x200F},
                                             {0x20D0, 0x20FF},
                                             {0xFE00, 0xFE0F}}};

// Characters that terminals draw over two columns (Unicode's East Asian Width W and F, as whole
// blocks).
constexpr std::array<Range, 11> kTwo = {{{0x1100, 0x115F},
                                         {0x2E80, 0x303E},
                                         {0x3041, 0x4DBF},
                                         {0x4E00, 0xA4CF},
                                         {0xA960, 0xA97F},
                                         {0xAC00, 0xD7A3},
                                         {0xF900, 0xFAFF},
                                         {0xFE30, 0xFE6F},
                                         {0xFF00, 0xFF60},
                                         {0x1F300, 0x1FAFF},
                                         {0x20000, 0x3FFFD}}};

template <std::size_t N>
bool IsIn(const std::array<Range, N>& ranges, std::uint32_t c) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [c](const Range& range) { return c >= range.first && c <= range.last; });
}

std::size_t WidthOf(std::uint32_t c) {
    if (c < 0x300) return 1;
    if (IsIn(kNoWidth, c)) return 0;
    return IsIn(kTwo, c) ? 2 : 1;
}

// Takes the next character off the front of the text.
std::uint32_t Take(std::string_view& text) {
    const auto lead = static_cast<unsigned char>(text[0]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    std::uint32_t c = length == 1 ? lead : lead & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < std::min(length, text.size()); ++i) {
        c = (c << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
    }
    text.remove_prefix(std::min(length, text.size()));
    return c;
}

}  // namespace

std::size_t TextWidth(std::string_view text) {
    std::size_t width = 0;
    while (!text.empty()) width += WidthOf(Take(text));
    return width;
}

std::string CutToWidth(std::string_view text, std::size_t columns) {
    if (TextWidth(text) <= columns) return std::string(text);
    if (columns == 0) return "";
    std::string_view rest = text;
    std::size_t width = 0;
    std::size_t kept = 0;
    while (!rest.empty()) {
        width += WidthOf(Take(rest));
        if (width > columns - 1) break;
        kept = text.size() - rest.size();
    }
    return std::string(text.substr(0, kept)) + "…";
}

}  // namespace ksana::app
