#pragma once

#include "ksana/base/result.hpp"
#include "ksana/session.hpp"

namespace ksana::app {

// The body of `job edit`.
Result<int> EditJob(Session& session);

}  // namespace ksana::app
