#pragma once

#include "ksana/command_line.hpp"
#include "ksana/process.hpp"

namespace ksana::app {

// `audit list`: who did what.
Command AuditCommand(const Process& process);

}  // namespace ksana::app
