#include "ksana/commands.hpp"

#include "ksana/config_command.hpp"
#include "ksana/cron_command.hpp"
#include "ksana/doctor_command.hpp"
#include "ksana/export_command.hpp"
#include "ksana/import_command.hpp"
#include "ksana/migrate_command.hpp"
#include "ksana/server_command.hpp"
#include "ksana/shell_commands.hpp"

namespace ksana::app {

std::vector<Command> AllCommands(const Process& process) {
    std::vector<Command> commands;
    commands.push_back(ServerCommand(process));
    for (Command& command : CronCommands(process.clock)) commands.push_back(std::move(command));
    commands.push_back(MigrateCommand(process));
    commands.push_back(ExportCommand(process));
    commands.push_back(ImportCommand(process));
    for (Command& command : ConfigCommands(process)) commands.push_back(std::move(command));
    commands.push_back(DoctorCommand(process));
    for (Command& command : ShellCommands(process)) commands.push_back(std::move(command));
    return commands;
}

}  // namespace ksana::app
