#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/text/json_output.hpp"
#include "ksana/codec/dispatcher/dispatcher_values.hpp"
#include "ksana/model/run/run.hpp"

// Executions in the terms of document D. Each retry is an execution of its own (D-08); the model
// has one run with several attempts. The executions of a run are told apart by the number of
// failures before them. A run that a worker gave back is not a failure: the same execution is
// dispatched again.

namespace ksana::codec {

struct DispatcherExecution {
    std::int32_t retry_count = 0;
    std::string_view status;  // a word of model::Dialect::kDispatcher
    // What it came to; null while it waits, and if it never started. Points into what it was made
    // from.
    const model::Attempt* attempt = nullptr;
    bool current = false;  // the last one of its run
};

// Whether a run that is ready has been handed out. To whoever fetches it, it has; to a message
// broker only when that has confirmed it, so until then it is PENDING (D-01, D-02).
enum class ReadyRun : std::uint8_t { kHandedOut, kToBePublished };

// Returns the executions of a run, oldest first, at least one. `attempts` are all attempts of the
// run, oldest first; the executions point to them.
std::vector<DispatcherExecution> ExecutionsOf(const model::Run& run,
                                              std::span<const model::Attempt> attempts,
                                              ReadyRun ready = ReadyRun::kHandedOut);

// Returns how many executions the run has, if the run alone tells: not if a worker gave it back
// after a failure, or a person did.
std::optional<std::size_t> ExecutionCount(const model::Run& run);

// The id of an execution is "RUN.RETRY_COUNT".
std::string ExecutionId(const Uuid& run, std::int32_t retry_count);
struct ExecutionKey {
    Uuid run;
    std::int32_t retry_count = 0;
};
std::optional<ExecutionKey> ParseExecutionId(std::string_view text);

// Returns an execution as JSON. kWhole adds its parameters, the log, the stack trace and what else
// its last attempt left behind (D-12).
std::string ExecutionToJson(const model::Run& run, const DispatcherExecution& execution,
                            DispatcherView view);

}  // namespace ksana::codec
