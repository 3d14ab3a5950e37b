#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/ksana/toolkit/style.hpp"

namespace ksana::app {

struct Cell {
    std::string text;  // Table::Add makes it printable
    Hue hue = Hue::kNone;
};

struct Title {
    std::string text;
    bool firm = false;  // cut only after all other columns are at their minimum
};

// Rows under titles, in columns as wide as their content. If the table is wider than the terminal,
// the widest columns are cut first and firm columns last. Lines have no trailing blanks. One
// thread.
class Table {
  public:
    explicit Table(std::vector<Title> titles);

    // Adds a row. Aborts unless it has one cell for each title.
    void Add(std::vector<Cell> row);
    bool empty() const { return rows_.empty(); }

    // Formats the table. `cut` limits it to style.columns; output to a pipe is not cut, so that
    // nothing is lost.
    std::string Text(const Style& style, bool cut) const;

  private:
    std::size_t Widest(const std::vector<std::size_t>& widths, bool firm) const;
    std::vector<std::size_t> Widths(std::size_t columns, bool cut) const;

    std::vector<Title> titles_;
    std::vector<std::vector<Cell>> rows_;
};

// Returns the number of terminal columns that a text takes: wide East Asian characters and emoji
// take two, combining marks none. The text must be UTF-8 without control characters (Printable).
std::size_t TextWidth(std::string_view text);

// Cuts a text to `columns`; a text that is cut ends with "…".
std::string CutToWidth(std::string_view text, std::size_t columns);

}  // namespace ksana::app
