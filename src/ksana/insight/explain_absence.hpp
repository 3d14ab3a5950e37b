#pragma once

#include "ksana/base/result.hpp"
#include "ksana/base/time.hpp"
#include "ksana/insight/explain_case.hpp"
#include "ksana/insight/fire_search.hpp"

namespace ksana::insight {

// Why a fire made no run: the ledger, what is to come, or what is gone. All but the text.
Result<void> ExplainNoRun(const ExplainCase& c, const FoundFire& fire, Explanation& explanation);

// Why a time is no fire. All but the text.
Result<void> ExplainNoFire(const ExplainCase& c, Explanation& explanation);

}  // namespace ksana::insight
