#pragma once

#include <vector>

#include "ksana/command_line.hpp"
#include "ksana/process.hpp"

namespace ksana::app {

// `config show` and `config check`: the settings of a server that would start here.
std::vector<Command> ConfigCommands(const Process& process);

}  // namespace ksana::app
