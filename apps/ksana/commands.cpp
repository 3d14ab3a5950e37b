#include "apps/ksana/commands.hpp"

#include "apps/ksana/commands.hpp"
#include "apps/ksana/job/job_command.hpp"
#include "apps/ksana/job/job_graph.hpp"
#include "apps/ksana/run/run_command.hpp"

namespace ksana::app {

std::vector<Command> AllCommands(const Process& process) {
    std::vector<Command> commands;
    const auto add = [&commands](std::vector<Command> some) {
        for (Command& command : some) commands.push_back(std::move(command));
    };
    commands.push_back(ServerCommand(process));
    commands.push_back(WorkerRunCommand(process));
    add(JobCommands(process));
    add(JobGraphCommands(process));
    add(JobChangeCommands(process));
    add(RunCommands(process));
    add(TaskCommands(process));
    add(CallbackCommands(process));
    add(AlertCommands(process));
    add(TypeCommands(process));
    add(WorkerCommands(process));
    commands.push_back(QueueCommand(process));
    add(BackfillCommands(process));
    add(CalendarCommands(process));
    add(GroupCommands(process));
    add(LimitCommands(process));
    commands.push_back(NodeCommand(process));
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
