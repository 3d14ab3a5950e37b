#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"

namespace ksana::app {

// Splits a line into words as a shell does, and does nothing else that a shell does: blanks
// separate, quotes and backslashes keep them. Characters that a shell would act on ($, `, |, <, >,
// ;, &, *) are part of their word. Fails for a quote that is not closed, a backslash at the end,
// and a line without words.
Result<std::vector<std::string>> SplitWords(std::string_view line);

}  // namespace ksana::app
