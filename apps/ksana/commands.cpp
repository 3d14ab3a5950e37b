#include "ksana/commands.hpp"

#include "ksana/cron_command.hpp"

namespace ksana::app {

std::vector<Command> AllCommands(const Clock& clock) { return CronCommands(clock); }

}  // namespace ksana::app
