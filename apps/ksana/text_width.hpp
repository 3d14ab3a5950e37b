#pragma once

#include <string>
#include <string_view>

namespace ksana::app {

// How many columns of a terminal a text takes: letters one, East Asian wide ones and emoji two,
// combining marks none. The text must be UTF-8 without control characters (Printable).
std::size_t TextWidth(std::string_view text);

// As much of it as fits; what is cut ends with "…".
std::string CutToWidth(std::string_view text, std::size_t columns);

}  // namespace ksana::app
