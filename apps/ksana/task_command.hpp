#pragma once

#include <vector>

#include "ksana/command_line.hpp"
#include "ksana/process.hpp"

namespace ksana::app {

// `ksana run submit` and `ksana run claim`. The process must outlive them.
std::vector<Command> TaskCommands(const Process& process);

}  // namespace ksana::app
