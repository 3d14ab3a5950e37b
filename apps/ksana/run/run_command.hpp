#pragma once

#include <span>
#include <vector>

#include "apps/ksana/toolkit/command_line.hpp"
#include "apps/ksana/toolkit/item_view.hpp"
#include "apps/ksana/toolkit/process.hpp"

namespace ksana::app {

// ksana run list, get, watch, log, cancel, retry, delete.
std::vector<Command> RunCommands(const Process& process);

// How a list of runs is shown.
std::span<const Column> RunColumns();

}  // namespace ksana::app
