#pragma once

#include <vector>

#include "apps/ksana/toolkit/session.hpp"
#include "ksana/base/error/result.hpp"

namespace ksana::app {

std::vector<OptionSpec> DeleteOptions();

// The body of `job delete`.
Result<int> DeleteJobs(ApiSession& session);

// The body of `job edit`.
Result<int> EditJob(ApiSession& session);

}  // namespace ksana::app
