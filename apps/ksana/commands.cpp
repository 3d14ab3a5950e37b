#include "ksana/commands.hpp"

#include "ksana/cron_command.hpp"
#include "ksana/export_command.hpp"
#include "ksana/import_command.hpp"
#include "ksana/migrate_command.hpp"
#include "ksana/server_command.hpp"

namespace ksana::app {

std::vector<Command> AllCommands(const Process& process) {
    std::vector<Command> commands;
    commands.push_back(ServerCommand(process));
    for (Command& command : CronCommands(process.clock)) commands.push_back(std::move(command));
    commands.push_back(MigrateCommand(process));
    commands.push_back(ExportCommand(process));
    commands.push_back(ImportCommand(process));
    return commands;
}

}  // namespace ksana::app
