#pragma once

#include <cstdint>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/exec/command/command_output.hpp"
#include "ksana/exec/command/guardian_wire.hpp"
#include "ksana/model/job/action.hpp"
#include "ksana/model/run/decide.hpp"

namespace ksana::exec {

// Why the executor asked a command to stop.
enum class CommandStop : std::uint8_t { kNone, kCancelled, kTimeout };

// How a command ended, beside what the guardian says.
struct CommandContext {
    const model::CommandAction& action;
    const CommandOutput& output;
    CommandStop stop = CommandStop::kNone;
    bool killed = false;  // it did not end when it was asked to
    Duration timeout{};
    Result<std::string> result;  // of a command that ended well
};

// Translates the end of a command into the event of the run. Exit code 0 is a success, one of
// permanent_exit_codes a permanent failure, and any other code or a signal a failure that is tried
// again. A command that was asked to stop while it ran is kCancelled or kTimeout, whatever its
// code. A program that cannot be started is a permanent failure, unless the machine is short of
// something.
//   error   short, for people: "exit code 3: the last lines of the output"
//   detail  {"exit_code","signal","output","output_bytes","left_out_bytes","cpu_ms","memory_bytes",
//           "left_behind","program_error"}; members without a meaning are absent
model::Event CommandOutcome(const Ending& ending, const CommandContext& context);

// The event of a command that could not be prepared.
model::Event ImpossibleCommand(const Error& error);

}  // namespace ksana::exec
