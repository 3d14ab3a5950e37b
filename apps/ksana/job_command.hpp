#pragma once

#include <vector>

#include "ksana/codec/json_tree.hpp"
#include "ksana/command_line.hpp"
#include "ksana/process.hpp"
#include "ksana/style.hpp"

namespace ksana::app {

// ksana job list, get, next, explain, stats: what only looks.
std::vector<Command> JobCommands(const Process& process);

// A schedule on one line: "*/5 * * * * Europe/Paris", "every 5m", "once".
std::string ScheduleText(const codec::Json& job, const Style& style);

}  // namespace ksana::app
