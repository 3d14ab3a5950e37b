#pragma once

#include <string>

#include "ksana/model/run.hpp"

namespace ksana::model {

// W3C Trace Context: the trace is the run, over all its attempts and whoever carries it out; the
// span is the attempt.
std::string TraceIdOf(const Run& run);
std::string TraceParentOf(const Run& run);

}  // namespace ksana::model
