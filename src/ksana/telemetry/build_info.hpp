#pragma once

#include <string_view>

namespace ksana::telemetry {

// The commit that the program was configured from, "54dc0636"; "unknown" without git, and in builds
// with tests.
std::string_view BuildRevision();

}  // namespace ksana::telemetry
