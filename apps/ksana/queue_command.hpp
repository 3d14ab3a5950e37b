#pragma once

#include "ksana/command_line.hpp"
#include "ksana/process.hpp"

namespace ksana::app {

// `queue`: how much waits, for how long, and how fast it goes.
Command QueueCommand(const Process& process);

}  // namespace ksana::app
