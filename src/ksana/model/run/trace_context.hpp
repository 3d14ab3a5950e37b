#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ksana/model/enum_names.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::model {

// Identifiers for W3C Trace Context. One run is one trace, across all attempts and owners, unless
// it belongs to another trace (Run::trace_parent). Ids of spans are hashes, so that every part of
// the program knows them without storing or sending them.

// What a `traceparent` says.
struct TraceContext {
    std::string trace_id;    // 32 lower-case hex digits
    std::uint64_t span = 0;  // of the parent; never 0
    bool sampled = true;
    friend bool operator==(const TraceContext&, const TraceContext&) = default;
};

// Parses a header `traceparent`. Returns nothing if W3C says that it is invalid: a receiver then
// begins a trace of its own. Later versions are read as version 00.
std::optional<TraceContext> ParseTraceParent(std::string_view text);
std::string FormatTraceParent(const TraceContext& context);

// Returns 16 hex digits.
std::string SpanIdText(std::uint64_t span);

// Decides which traces are recorded, as OTEL_TRACES_SAMPLER says. A trace is recorded as a whole:
// the decision depends on the trace only.
struct TraceSampler {
    enum class Kind : std::uint8_t { kAlwaysOn, kAlwaysOff, kRatio };

    Kind kind = Kind::kAlwaysOn;
    double ratio = 1;          // kRatio: the recorded part of all traces
    bool parent_based = true;  // a submitter that sent a traceparent decides for its runs

    bool Samples(const Run& run) const;
    friend bool operator==(const TraceSampler&, const TraceSampler&) = default;
};

template <>
struct EnumNames<TraceSampler::Kind> {
    static constexpr std::array<std::string_view, 3> kNames = {"always_on", "always_off",
                                                               "traceidratio"};
};

std::string TraceIdOf(const Run& run);
// The span of the whole run, and that of one of its attempts.
std::uint64_t RootSpanOf(const Uuid& run_id);
std::uint64_t AttemptSpanOf(const Uuid& run_id, std::int32_t number);
// Returns the span of another part of the run, such as ("plan", 0) or ("wait", 2).
std::uint64_t PartSpanOf(const Uuid& run_id, std::string_view part, std::int64_t number);

// Returns the span of the current attempt, as log lines name it.
std::string AttemptSpanText(const Run& run);

// Returns the `traceparent` for what the current attempt calls: the span is the attempt.
std::string TraceParentOf(const Run& run, const TraceSampler& sampler = {});

// Returns the Run::trace_parent of a run that `parent` has made: a callback, a repetition, one of a
// broadcast. It belongs to the parent's trace.
std::string TraceParentForChild(const Run& parent);
// Returns the Run::trace_parent of a run that follows `cause`: a trace of its own with a link.
std::string TraceLinkTo(const Run& cause);

// What Run::trace_parent says: the span that the run's root continues, or the one that it links to.
struct StoredTrace {
    std::optional<TraceContext> parent;
    std::optional<TraceContext> link;
};
StoredTrace StoredTraceOf(const Run& run);

}  // namespace ksana::model
