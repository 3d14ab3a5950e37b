#pragma once

#include <string>
#include <vector>

#include "apps/ksana/toolkit/style.hpp"
#include "apps/ksana/top/top_data.hpp"

namespace ksana::app {

// Returns one picture of a server as lines that fit the terminal. Rates are computed since
// `before`; null if there is no earlier data.
std::vector<std::string> TopFrame(const TopData& data, const TopData* before, const Style& style,
                                  const TerminalSize& size);

}  // namespace ksana::app
