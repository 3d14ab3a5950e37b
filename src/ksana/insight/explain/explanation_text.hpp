#pragma once

#include <string>

#include "ksana/insight/explain/explain_case.hpp"

namespace ksana::insight {

// The explanation in one sentence, made of its facts.
std::string Sentence(const ExplainCase& c, const Explanation& explanation);

}  // namespace ksana::insight
