#pragma once

#include <vector>

#include "ksana/base/result.hpp"
#include "ksana/session.hpp"

namespace ksana::app {

std::vector<OptionSpec> DeleteOptions();

// The body of `job delete`.
Result<int> DeleteJobs(Session& session);

}  // namespace ksana::app
