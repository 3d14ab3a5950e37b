#pragma once

#include "ksana/command_line.hpp"
#include "ksana/process.hpp"

namespace ksana::app {

// ksana top: a server, live.
Command TopCommand(const Process& process);

}  // namespace ksana::app
