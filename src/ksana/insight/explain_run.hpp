#pragma once

#include "ksana/base/result.hpp"
#include "ksana/insight/explain_case.hpp"
#include "ksana/model/run.hpp"

namespace ksana::insight {

// Verdict, reason and facts of a fire that made a run. All but the text.
Result<void> ExplainRun(const ExplainCase& c, const model::Run& run, Explanation& explanation);

}  // namespace ksana::insight
