#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/ksana/toolkit/style.hpp"

namespace ksana::app {

struct Cell {
    std::string text;  // made printable by the table
    Hue hue = Hue::kNone;
};

struct Title {
    std::string text;
    bool firm = false;  // cut only when nothing else is left to cut
};

// Rows under titles, as wide as what they hold and no wider than the terminal: what does not fit is
// cut, beginning with the widest column, firm ones last. Nothing trails at the end of a
// line.
class Table {
  public:
    explicit Table(std::vector<Title> titles);

    // As many cells as there are titles.
    void Add(std::vector<Cell> row);
    bool empty() const { return rows_.empty(); }

    // On a terminal a table has its width; in a pipe it is cut nowhere, so that nothing is lost.
    std::string Text(const Style& style, bool cut) const;

  private:
    std::size_t Widest(const std::vector<std::size_t>& widths, bool firm) const;
    std::vector<std::size_t> Widths(std::size_t columns, bool cut) const;

    std::vector<Title> titles_;
    std::vector<std::vector<Cell>> rows_;
};

// How many columns of a terminal a text takes: letters one, East Asian wide ones and emoji two,
// combining marks none. The text must be UTF-8 without control characters (Printable).
std::size_t TextWidth(std::string_view text);

// As much of it as fits; what is cut ends with "…".
std::string CutToWidth(std::string_view text, std::size_t columns);

}  // namespace ksana::app
