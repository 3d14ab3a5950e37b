#pragma once

#include "ksana/command_line.hpp"
#include "ksana/process.hpp"

namespace ksana::app {

// `simulate`: what the schedules would do.
Command SimulateCommand(const Process& process);

}  // namespace ksana::app
