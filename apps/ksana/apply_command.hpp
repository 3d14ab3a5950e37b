#pragma once

#include "ksana/command_line.hpp"
#include "ksana/process.hpp"

namespace ksana::app {

// `apply`: makes the server hold what files say.
Command ApplyCommand(const Process& process);

}  // namespace ksana::app
