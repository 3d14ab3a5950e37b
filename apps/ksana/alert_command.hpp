#pragma once

#include <vector>

#include "ksana/command_line.hpp"
#include "ksana/process.hpp"

namespace ksana::app {

// `ksana alert`: who is told of what, and what there is to tell.
std::vector<Command> AlertCommands(const Process& process);

}  // namespace ksana::app
