#pragma once

#include "ksana/command_line.hpp"
#include "ksana/process.hpp"

namespace ksana::app {

// `ksana export`: everything a store holds, as lines. The process must outlive it.
Command ExportCommand(const Process& process);

}  // namespace ksana::app
