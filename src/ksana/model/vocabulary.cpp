#include "ksana/model/vocabulary.hpp"

#include <algorithm>
#include <array>

namespace ksana::model {
namespace {

// One row per state, one column per dialect; "" where the document has no word.
struct Row {
    RunState state;
    std::array<std::string_view, 5> words;
    std::string_view task_word_after_failure;  // dialect kTask, after the first failure
};

constexpr std::array<Row, 12> kRows = {{
    {RunState::kScheduled, {"", "PENDING", "New", "scheduled", ""}, "Error"},
    {RunState::kQueued, {"", "DISPATCHED", "New", "scheduled", ""}, "Error"},
    {RunState::kRunning, {"", "RUNNING", "Executing", "running", ""}, ""},
    {RunState::kCompleting, {"success", "COMPLETED", "Completed", "finished", ""}, ""},
    {RunState::kHeld, {"failed", "FAILED", "Pending", "failed", "FAILED"}, ""},
    {RunState::kSucceeded, {"success", "COMPLETED", "Success", "finished", "SUCCESS"}, ""},
    {RunState::kFailed, {"failed", "FAILED", "Failure", "failed", "FAILED"}, ""},
    {RunState::kTimedOut, {"timeout", "TIMEOUT", "Failure", "failed", "FAILED"}, ""},
    {RunState::kCancelled, {"failed", "CANCELLED", "Cancelled", "canceled", "FAILED"}, ""},
    {RunState::kResolved, {"failed", "FAILED", "ManuallyProcessed", "failed", "FAILED"}, ""},
    {RunState::kSkipped, {"skipped", "SKIPPED", "", "", "SKIPPED"}, ""},
    {RunState::kMissed, {"missed", "MISSED", "", "", ""}, ""},
}};

}  // namespace

std::optional<std::string_view> WordFor(Dialect dialect, RunState state, int failures) {
    const Row& row = kRows.at(static_cast<std::size_t>(state));
    std::string_view word = row.words.at(static_cast<std::size_t>(dialect));
    if (dialect == Dialect::kTask && failures > 0 && !row.task_word_after_failure.empty()) {
        word = row.task_word_after_failure;
    }
    return word.empty() ? std::nullopt : std::optional(word);
}

std::optional<WordMeaning> MeaningOf(Dialect dialect, std::string_view word) {
    if (word.empty()) return std::nullopt;
    WordMeaning meaning;
    for (const Row& row : kRows) {
        const bool two = dialect == Dialect::kTask && !row.task_word_after_failure.empty();
        const bool first = row.words.at(static_cast<std::size_t>(dialect)) == word;
        const bool later = two && row.task_word_after_failure == word;
        if (!first && !later) continue;
        meaning.states = static_cast<RunStates>(meaning.states | SetOf(row.state));
        if (two) meaning.after_failure = later;
    }
    return meaning.states == 0 ? std::nullopt : std::optional(meaning);
}

std::vector<std::string_view> WordsOf(Dialect dialect) {
    std::vector<std::string_view> words;
    const auto add = [&words](std::string_view word) {
        if (!word.empty() && std::ranges::find(words, word) == words.end()) words.push_back(word);
    };
    for (const Row& row : kRows) {
        add(row.words.at(static_cast<std::size_t>(dialect)));
        if (dialect == Dialect::kTask) add(row.task_word_after_failure);
    }
    return words;
}

}  // namespace ksana::model
