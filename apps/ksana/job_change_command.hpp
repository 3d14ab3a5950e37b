#pragma once

#include <vector>

#include "ksana/command_line.hpp"
#include "ksana/process.hpp"

namespace ksana::app {

// ksana job create, edit, delete, run, pause, resume: what changes something.
std::vector<Command> JobChangeCommands(const Process& process);

}  // namespace ksana::app
