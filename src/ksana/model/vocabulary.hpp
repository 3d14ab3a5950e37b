#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ksana/model/run.hpp"

namespace ksana::model {

// The documents that Ksana unites speak of the same states in different words (design: run
// states). Only the dialects of the API use these; inside there is RunState.
enum class Dialect : std::uint8_t {
    kTimer,       // document K: a job's last_status
    kDispatcher,  // document D: an execution
    kTask,        // document T: an async task
    kStudy,       // document G: a job
    kLibrary,     // document N: a JobResult
};

// The word of a dialect for a run, or nothing where the document has none. `failures` tells a
// first attempt from a later one.
std::optional<std::string_view> WordFor(Dialect dialect, RunState state, int failures);

}  // namespace ksana::model
