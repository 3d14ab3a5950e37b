#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ksana/base/time/time.hpp"
#include "ksana/model/run/run.hpp"

// The log of jobs in the terms of document N (N-19): an entry for each run that has ended.

namespace ksana::codec {

// The status of an entry. The document has 0 and 1; 2 stands for fires that were not carried out.
enum class AdminLogStatus : std::uint8_t { kSuccess, kFailure, kNotRun };

// Returns the final states that have this status.
model::RunStates StatesOf(AdminLogStatus status);

// Returns the document's JobResult for a run that has ended: SUCCESS, FAILED, SKIPPED, or empty if
// it has not ended. A missed fire counts as skipped.
std::string_view AdminResultOf(model::RunState state);

// Return the decided time of a run in epoch milliseconds (the nominal time of a fire, else its
// creation), and the milliseconds of its last attempt; none: no attempt has ended.
std::int64_t FireTimeOf(const model::Run& run);
std::optional<std::int64_t> DurationOf(const model::Run& run);

// A page of the log. `runs` must outlive it.
struct AdminLogPage {
    std::span<const model::Run> runs;
    std::int64_t total = 0;
    bool exact = true;  // false: there are at least `total`
    std::size_t page = 1;
    std::size_t size = 0;
};
std::string AdminLogPageToJson(const AdminLogPage& page);

// Returns an entry with the result of the run, and the log lines of its last attempt as one text.
std::string AdminLogEntryToJson(const model::Run& run);

}  // namespace ksana::codec
