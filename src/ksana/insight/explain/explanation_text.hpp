#pragma once

#include <string>

#include "ksana/insight/explain/explain_case.hpp"

namespace ksana::insight {

// Returns the explanation as one sentence, made from its facts.
std::string Sentence(const ExplainCase& c, const Explanation& explanation);

}  // namespace ksana::insight
