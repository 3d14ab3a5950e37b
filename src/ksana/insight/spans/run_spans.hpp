#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/store/store.hpp"
#include "ksana/telemetry/traces/span.hpp"

// Spans of a run, computed from its record (0037): they are kept as long as the run and cost
// nothing to store. Pure functions; any thread.
//
//   run REPORT                root; its parent is the submitter's span, if there is one
//   ├ plan                    from the time of the fire until the run was stored
//   ├ wait 1                  until the attempt began
//   ├ attempt 1               its id is sent to the target as traceparent
//   │ └ HTTP GET example.com  or: command, handler
//   ├ wait 2 …
//   └ callback                the root of the callback's run, in the same trace

namespace ksana::insight {

// Of so many attempts, the newest, are there spans.
inline constexpr std::size_t kMaxSpanAttempts = 200;

// What is known of a run beside its record.
struct SpanSources {
    const model::Job* job = nullptr;         // names the target of a call; may be null
    std::vector<telemetry::SpanLink> links;  // of the root: runs that released this one
    // EndedSpansOf: when the attempt that ended could begin, if the run has another ready_at now.
    std::optional<TimePoint> ready_at = {};
};

// Returns all spans of a run, also those that are not over.
std::vector<telemetry::Span> SpansOf(const model::Run& run,
                                     std::span<const model::Attempt> attempts,
                                     const SpanSources& sources);

// Returns the spans that ended with the last change of the run: those of its attempt, and the root
// if the run is over. Exported at every change, they are the same spans as those of SpansOf.
std::vector<telemetry::Span> EndedSpansOf(const model::Run& run, const SpanSources& sources);

// Returns whether the root needs links that only a look into the store finds (LinksOf).
bool NeedsLinks(const model::Run& run);
// Returns links to the runs whose ends released a run that depends on other jobs: the last of each
// before it first started.
Result<std::vector<telemetry::SpanLink>> LinksOf(store::Store& store, const model::Run& run);

// Reads a run and what belongs to it: its own spans, those of its callbacks, and its links.
// kNotFound: there is no such run.
Result<std::vector<telemetry::Span>> ReadSpans(store::Store& store, const Uuid& run_id);

}  // namespace ksana::insight
