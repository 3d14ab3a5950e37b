#include "ksana/commands.hpp"

#include "ksana/alert_command.hpp"
#include "ksana/apply_command.hpp"
#include "ksana/audit_command.hpp"
#include "ksana/backfill_command.hpp"
#include "ksana/calendar_command.hpp"
#include "ksana/callback_command.hpp"
#include "ksana/config_command.hpp"
#include "ksana/cron_command.hpp"
#include "ksana/doctor_command.hpp"
#include "ksana/export_command.hpp"
#include "ksana/group_command.hpp"
#include "ksana/import_command.hpp"
#include "ksana/job_change_command.hpp"
#include "ksana/job_command.hpp"
#include "ksana/limit_command.hpp"
#include "ksana/migrate_command.hpp"
#include "ksana/queue_command.hpp"
#include "ksana/run_command.hpp"
#include "ksana/server_command.hpp"
#include "ksana/shell_commands.hpp"
#include "ksana/simulate_command.hpp"
#include "ksana/task_command.hpp"
#include "ksana/top_command.hpp"
#include "ksana/type_command.hpp"

namespace ksana::app {

std::vector<Command> AllCommands(const Process& process) {
    std::vector<Command> commands;
    const auto add = [&commands](std::vector<Command> some) {
        for (Command& command : some) commands.push_back(std::move(command));
    };
    commands.push_back(ServerCommand(process));
    add(JobCommands(process));
    add(JobChangeCommands(process));
    add(RunCommands(process));
    add(TaskCommands(process));
    add(CallbackCommands(process));
    add(AlertCommands(process));
    add(TypeCommands(process));
    commands.push_back(QueueCommand(process));
    add(BackfillCommands(process));
    add(CalendarCommands(process));
    add(GroupCommands(process));
    add(LimitCommands(process));
    commands.push_back(ApplyCommand(process));
    commands.push_back(SimulateCommand(process));
    commands.push_back(AuditCommand(process));
    commands.push_back(TopCommand(process));
    add(CronCommands(process.clock));
    commands.push_back(MigrateCommand(process));
    commands.push_back(ExportCommand(process));
    commands.push_back(ImportCommand(process));
    add(ConfigCommands(process));
    commands.push_back(DoctorCommand(process));
    add(ShellCommands(process));
    return commands;
}

}  // namespace ksana::app
