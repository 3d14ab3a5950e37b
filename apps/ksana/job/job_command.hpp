#pragma once

#include <vector>

#include "apps/ksana/toolkit/command_line.hpp"
#include "apps/ksana/toolkit/process.hpp"
#include "apps/ksana/toolkit/style.hpp"
#include "ksana/codec/json/json_tree.hpp"

namespace ksana::app {

// ksana job list, get, next, explain, stats: the commands that only read.
std::vector<Command> JobCommands(const Process& process);

// Formats a schedule on one line: "*/5 * * * * Europe/Paris", "every 5m", "once".
std::string ScheduleText(const codec::Json& job, const Style& style);

}  // namespace ksana::app
