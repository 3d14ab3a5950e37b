#pragma once

#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/engine/dispatch/executor.hpp"
#include "ksana/exec/command/guardian_wire.hpp"
#include "ksana/model/run/trace_context.hpp"

namespace ksana::exec {

// The files of an attempt, and its times, as its command sees them.
struct CommandPlaces {
    std::string payload_file;
    std::string result_file;
};

// Returns the variables of this process.
TextMap ProcessVariables();

// Makes what the kernel needs of an attempt's command: fills in the placeholders, finds the user,
// collects the variables. Placeholders become part of one argument each, whatever they hold.
// `process` are the variables of this process, of which the command inherits some. The error names
// what cannot be done; trying again would not help.
Result<SpawnSpec> MakeSpawnSpec(const engine::ActiveAttempt& attempt, const CommandPlaces& places,
                                const TextMap& process, const model::TraceSampler& sampler = {});

// Returns the action of the attempt's job, or null.
const model::CommandAction* CommandOf(const engine::ActiveAttempt& attempt);

}  // namespace ksana::exec
