#pragma once

#include "ksana/command_line.hpp"
#include "ksana/process.hpp"

namespace ksana::app {

// `doctor`: is everything here as a server needs it?
Command DoctorCommand(const Process& process);

}  // namespace ksana::app
