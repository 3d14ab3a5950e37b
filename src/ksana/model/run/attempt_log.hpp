#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ksana/model/run/run.hpp"

namespace ksana::model {

// Lines that whoever carries out a run has sent about its attempt. They are a member of the
// attempt's detail, {"log":["line","line"]}, so that they are there while it runs and after its
// end, however that came. Texts are put together without reading them as JSON: an event brings its
// lines as JSON strings with commas between.

inline constexpr std::size_t kMaxAttemptLog = std::size_t{64} * 1024;  // the oldest lines go

// The detail with these lines at its end.
std::string WithLines(std::string_view detail, std::string_view lines);

// The detail that an attempt ends with, in front of which stand the lines of the one before.
std::string WithLogOf(std::string_view before, std::string detail);

// W3C Trace Context: the trace is the run, over all its attempts and whoever carries it out; the
// span is the attempt.
std::string TraceIdOf(const Run& run);
std::string TraceParentOf(const Run& run);

}  // namespace ksana::model
