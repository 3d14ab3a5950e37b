#pragma once

#include <vector>

#include "apps/ksana/toolkit/command_line.hpp"
#include "apps/ksana/toolkit/process.hpp"
#include "ksana/base/time/clock.hpp"

namespace ksana::app {

// Every command there is. The process must outlive the table.
std::vector<Command> AllCommands(const Process& process);

// `ksana alert`: who is told of what, and what there is to tell.
std::vector<Command> AlertCommands(const Process& process);

// `apply`: makes the server hold what files say.
Command ApplyCommand(const Process& process);

// `audit list`: who did what.
Command AuditCommand(const Process& process);

// `job backfill` and `backfill list|get|cancel`.
std::vector<Command> BackfillCommands(const Process& process);

// `calendar list|get|apply|import|preview|delete`.
std::vector<Command> CalendarCommands(const Process& process);

// `ksana callback`: who was told of the end of runs, and who is told again.
std::vector<Command> CallbackCommands(const Process& process);

// `config show` and `config check`: the settings of a server that would start here.
std::vector<Command> ConfigCommands(const Process& process);

// `ksana cron next` and `ksana cron explain`: schedules without a server.
std::vector<Command> CronCommands(const Clock& clock);

// `doctor`: is everything here as a server needs it?
Command DoctorCommand(const Process& process);

// `ksana export`: everything a store holds, as lines. The process must outlive it.
Command ExportCommand(const Process& process);

// `group list|get|set|delete|pause|resume`.
std::vector<Command> GroupCommands(const Process& process);

// `ksana import`: fills an empty store from an export. The process must outlive it.
Command ImportCommand(const Process& process);

// ksana job create, edit, delete, run, pause, resume: what changes something.
std::vector<Command> JobChangeCommands(const Process& process);

// `limit list|set|delete`: of types and hosts; those of groups are set by `group set`.
std::vector<Command> LimitCommands(const Process& process);

// `ksana migrate`: the schema of a store. The process must outlive it.
Command MigrateCommand(const Process& process);

// `queue`: how much waits, for how long, and how fast it goes.
Command QueueCommand(const Process& process);

Command ServerCommand(const Process& process);

// `completion` and `man`: what is made from the table that they stand in themselves.
std::vector<Command> ShellCommands(const Process& process);

// `simulate`: what the schedules would do.
Command SimulateCommand(const Process& process);

// `ksana run submit` and `ksana run claim`. The process must outlive them.
std::vector<Command> TaskCommands(const Process& process);

// ksana top: a server, live.
Command TopCommand(const Process& process);

// `type list|get|create|apply|delete`.
std::vector<Command> TypeCommands(const Process& process);

}  // namespace ksana::app
