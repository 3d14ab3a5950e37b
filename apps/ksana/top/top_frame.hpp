#pragma once

#include <string>
#include <vector>

#include "apps/ksana/toolkit/style.hpp"
#include "apps/ksana/top/top_data.hpp"

namespace ksana::app {

// One picture of a server: its lines, none wider and not more than the terminal has. `before` is
// the moment that rates are counted from; null: there is none yet.
std::vector<std::string> TopFrame(const TopData& data, const TopData* before, const Style& style,
                                  const TerminalSize& size);

}  // namespace ksana::app
