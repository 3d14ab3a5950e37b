#pragma once

#include <string>

#include "apps/ksana/toolkit/session.hpp"
#include "ksana/codec/json/json_tree.hpp"

namespace ksana::app {

// Shows the spans of a run: a waterfall for people, the answer of the API for programs.
Result<int> TraceRun(ApiSession& session);

// Returns the waterfall of an answer of GET /api/v1/runs/{id}/spans: a line per span with its name
// below that of its parent, how long it took, and a bar for its time within the trace.
std::string Waterfall(const codec::Json& trace, const Style& style);

}  // namespace ksana::app
