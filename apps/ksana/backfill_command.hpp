#pragma once

#include <vector>

#include "ksana/command_line.hpp"
#include "ksana/process.hpp"

namespace ksana::app {

// `job backfill` and `backfill list|get|cancel`.
std::vector<Command> BackfillCommands(const Process& process);

}  // namespace ksana::app
