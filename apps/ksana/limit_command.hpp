#pragma once

#include <vector>

#include "ksana/command_line.hpp"
#include "ksana/process.hpp"

namespace ksana::app {

// `limit list|set|delete`: of types and hosts; those of groups are set by `group set`.
std::vector<Command> LimitCommands(const Process& process);

}  // namespace ksana::app
