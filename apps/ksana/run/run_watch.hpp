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

// Asks for the run until it is over, and shows on standard error how it goes: in place on a
// terminal, else a line for each change. The exit code is its verdict: 0 where it succeeded, 7
// where it did not or waits for a person; 124 after --max-wait, 130 on a signal (the run goes on).
Result<int> WatchRun(ApiSession& session, const std::string& id);

// No state comes after it.
bool IsFinal(std::string_view state);

// "1.2s": from its start to its end, or to now; "" before its start.
std::string TookText(const codec::Json& run, const Style& style);

}  // namespace ksana::app
