#pragma once

#include <vector>

#include "ksana/command_line.hpp"
#include "ksana/process.hpp"

namespace ksana::app {

// `type list|get|create|apply|delete`.
std::vector<Command> TypeCommands(const Process& process);

}  // namespace ksana::app
