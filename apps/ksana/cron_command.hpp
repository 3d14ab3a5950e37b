#pragma once

#include <vector>

#include "ksana/base/clock.hpp"
#include "ksana/command_line.hpp"

namespace ksana::app {

// `ksana cron next` and `ksana cron explain`: schedules without a server.
std::vector<Command> CronCommands(const Clock& clock);

}  // namespace ksana::app
