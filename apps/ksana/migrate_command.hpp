#pragma once

#include "ksana/command_line.hpp"
#include "ksana/process.hpp"

namespace ksana::app {

// `ksana migrate`: the schema of a store. The process must outlive it.
Command MigrateCommand(const Process& process);

}  // namespace ksana::app
