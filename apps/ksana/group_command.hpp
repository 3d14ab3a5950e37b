#pragma once

#include <vector>

#include "ksana/command_line.hpp"
#include "ksana/process.hpp"

namespace ksana::app {

// `group list|get|set|delete|pause|resume`.
std::vector<Command> GroupCommands(const Process& process);

}  // namespace ksana::app
