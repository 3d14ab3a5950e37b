#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/ksana/toolkit/session.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/codec/json/json_tree.hpp"

namespace ksana::app {

// --max-wait, for commands that watch a run.
std::vector<OptionSpec> WatchOptions();

// Polls the run until it has ended or is held, and shows its progress on standard error: in place
// on a terminal, else one line for each change. Returns 0 if the run succeeded or was resolved, 7
// otherwise; 124 after --max-wait and 130 on a signal, and the run continues. A server that
// answered before may be unreachable for up to 30 s.
Result<int> WatchRun(ApiSession& session, const std::string& id);

// Returns whether a run never leaves this state.
bool IsFinal(std::string_view state);

// Formats the time from the run's start to its end, or to now: "1.2s"; "" before its start.
std::string TookText(const codec::Json& run, const Style& style);

}  // namespace ksana::app
