#pragma once

#include <vector>

#include "ksana/base/clock.hpp"
#include "ksana/command_line.hpp"

namespace ksana::app {

// Every command there is. The clock must outlive the table.
std::vector<Command> AllCommands(const Clock& clock);

}  // namespace ksana::app
