#pragma once

#include <vector>

#include "apps/ksana/toolkit/command_line.hpp"
#include "apps/ksana/toolkit/process.hpp"
#include "ksana/base/time/clock.hpp"

namespace ksana::app {

// Returns the table of all commands. `process` must outlive the table, here and in every function
// below.
std::vector<Command> AllCommands(const Process& process);

// `ksana alert`: alert rules and the incidents they have raised.
std::vector<Command> AlertCommands(const Process& process);

// `apply`: makes the jobs, groups and calendars of the server match definition files.
Command ApplyCommand(const Process& process);

// `audit list`: audit events.
Command AuditCommand(const Process& process);

// `job backfill` and `backfill list|get|cancel`.
std::vector<Command> BackfillCommands(const Process& process);

// `calendar list|get|apply|import|preview|delete`.
std::vector<Command> CalendarCommands(const Process& process);

// `ksana callback`: lists callbacks and delivers failed ones again.
std::vector<Command> CallbackCommands(const Process& process);

// `config show` and `config check`: the settings that a server started here would use.
std::vector<Command> ConfigCommands(const Process& process);

// `ksana cron next` and `ksana cron explain`: work without a server.
std::vector<Command> CronCommands(const Clock& clock);

// `doctor`: checks whether a server can run on this machine.
Command DoctorCommand(const Process& process);

// `ksana export`: writes all records of a store, one a line.
Command ExportCommand(const Process& process);

// `group list|get|set|delete|pause|resume`.
std::vector<Command> GroupCommands(const Process& process);

// `ksana import`: fills an empty store from an export.
Command ImportCommand(const Process& process);

// `ksana job create|edit|delete|run|pause|resume`.
std::vector<Command> JobChangeCommands(const Process& process);

// `limit list|set|delete`: limits of types and hosts; `group set` sets those of groups.
std::vector<Command> LimitCommands(const Process& process);

// `ksana migrate`: shows or migrates the schema of a store.
Command MigrateCommand(const Process& process);

// `node list`: the servers that share a store.
Command NodeCommand(const Process& process);

// `queue`: queue depth, waiting time and throughput.
Command QueueCommand(const Process& process);

Command ServerCommand(const Process& process);

// `completion` and `man`: print texts that are generated from the table of commands.
std::vector<Command> ShellCommands(const Process& process);

// `simulate`: runs the schedules on a virtual clock.
Command SimulateCommand(const Process& process);

// `ksana run submit` and `ksana run claim`.
std::vector<Command> TaskCommands(const Process& process);

// `ksana top`: a live view of a server.
Command TopCommand(const Process& process);

// `type list|get|create|apply|delete`.
std::vector<Command> TypeCommands(const Process& process);

// `worker run`, also without the verb: a worker process.
Command WorkerRunCommand(const Process& process);

// `worker list|show|drain`.
std::vector<Command> WorkerCommands(const Process& process);

}  // namespace ksana::app
