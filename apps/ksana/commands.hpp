#pragma once

#include <vector>

#include "ksana/command_line.hpp"
#include "ksana/process.hpp"

namespace ksana::app {

// Every command there is. The process must outlive the table.
std::vector<Command> AllCommands(const Process& process);

}  // namespace ksana::app
