#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ksana/model/run/run.hpp"

namespace ksana::model {

// The requirement documents that Ksana unites use different words for the same run states (design:
// run states). Only the API's dialects use these words; everything else uses RunState.
enum class Dialect : std::uint8_t {
    kTimer,       // document K: a job's last_status
    kDispatcher,  // document D: an execution
    kTask,        // document T: an async task
    kStudy,       // document G: a job
    kLibrary,     // document N: a JobResult
};

// Returns a dialect's word for a run state, or nullopt where its document has none. `failures`
// tells a first attempt from a later one, for which kTask has another word.
std::optional<std::string_view> WordFor(Dialect dialect, RunState state, int failures);

// The runs that a word of a dialect stands for.
struct WordMeaning {
    RunStates states = 0;
    // set where one state has a word before and a word after the first failure
    std::optional<bool> after_failure;
    friend bool operator==(const WordMeaning&, const WordMeaning&) = default;
};
// The inverse of WordFor. Returns nullopt if the document has no such word.
std::optional<WordMeaning> MeaningOf(Dialect dialect, std::string_view word);

// Returns all words of a dialect, without duplicates, in the order of the states.
std::vector<std::string_view> WordsOf(Dialect dialect);

}  // namespace ksana::model
