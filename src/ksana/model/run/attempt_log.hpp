#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ksana/model/run/run.hpp"

namespace ksana::model {

// Log lines that an executor or agent sends about an attempt. They are stored as a member of the
// attempt's detail, {"log":["line","line"]}, so they are visible while the attempt runs and after
// any kind of end. These functions join texts without parsing JSON: `lines` are JSON strings
// separated by commas, as in Event::log.

// In bytes; the oldest lines are dropped.
inline constexpr std::size_t kMaxAttemptLog = std::size_t{64} * 1024;

// Returns the newest of these lines, at most kMaxAttemptLog bytes.
std::string_view NewestLines(std::string_view lines);

// Returns a detail that holds the log of `detail` with `lines` appended, and nothing else.
std::string WithLines(std::string_view detail, std::string_view lines);

// Returns the final `detail` of an attempt with the log of `before` put in front.
std::string WithLogOf(std::string_view before, std::string detail);

}  // namespace ksana::model
