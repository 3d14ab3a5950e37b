#pragma once

#include <vector>

#include "ksana/command_line.hpp"
#include "ksana/process.hpp"

namespace ksana::app {

// `completion` and `man`: what is made from the table that they stand in themselves.
std::vector<Command> ShellCommands(const Process& process);

}  // namespace ksana::app
