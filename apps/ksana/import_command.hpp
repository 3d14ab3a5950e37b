#pragma once

#include "ksana/command_line.hpp"
#include "ksana/process.hpp"

namespace ksana::app {

// `ksana import`: fills an empty store from an export. The process must outlive it.
Command ImportCommand(const Process& process);

}  // namespace ksana::app
