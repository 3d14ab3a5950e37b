#pragma once

#include <vector>

#include "ksana/command_line.hpp"
#include "ksana/process.hpp"

namespace ksana::app {

// `ksana callback`: who was told of the end of runs, and who is told again.
std::vector<Command> CallbackCommands(const Process& process);

}  // namespace ksana::app
