#pragma once

#include "ksana/command_line.hpp"
#include "ksana/process.hpp"

namespace ksana::app {

Command ServerCommand(const Process& process);

}  // namespace ksana::app
