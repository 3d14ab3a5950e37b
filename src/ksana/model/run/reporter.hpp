#pragma once

#include <optional>

#include "ksana/model/run/decide.hpp"

namespace ksana::model {

// Judges an event that speaks for an attempt (IsFenced) by who sends it and for which attempt.
// Returns nothing if the attempt is the sender's and goes on: then the event has its effect. A
// report that comes again after the end is kDuplicate; one that says something else than the report
// before is kRefused, and names both; all others are kStale. Pure, a part of Decide.
std::optional<Transition> JudgeReporter(const Run& run, const Event& event);

}  // namespace ksana::model
