#pragma once

#include <span>
#include <vector>

#include "apps/ksana/toolkit/command_line.hpp"
#include "apps/ksana/toolkit/item_view.hpp"
#include "apps/ksana/toolkit/process.hpp"

namespace ksana::app {

// ksana run list, get, watch, trace, log, cancel, retry, resolve, hold, delete, purge.
std::vector<Command> RunCommands(const Process& process);

// Returns the columns for a list of runs.
std::span<const Column> RunColumns();

}  // namespace ksana::app
