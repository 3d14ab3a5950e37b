#pragma once

#include <vector>

#include "ksana/command_line.hpp"
#include "ksana/process.hpp"

namespace ksana::app {

// `calendar list|get|apply|import|preview|delete`.
std::vector<Command> CalendarCommands(const Process& process);

}  // namespace ksana::app
