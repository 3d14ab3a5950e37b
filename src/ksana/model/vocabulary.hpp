#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ksana/model/run/run.hpp"

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

// The other way round: which runs a word speaks of, or nothing where the document has no such word.
struct WordMeaning {
    RunStates states = 0;
    std::optional<bool> after_failure;  // set where the same states have two words
    friend bool operator==(const WordMeaning&, const WordMeaning&) = default;
};
std::optional<WordMeaning> MeaningOf(Dialect dialect, std::string_view word);

// All words of a dialect, each once, in the order of the states.
std::vector<std::string_view> WordsOf(Dialect dialect);

}  // namespace ksana::model
