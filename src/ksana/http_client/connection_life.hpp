#pragma once

#include <chrono>

namespace ksana::http_client {

// A connection is not used again after this, so that changed names and drained servers are noticed.
inline constexpr std::chrono::seconds kMaxConnectionLife{600};

// Nor when nothing went over it for so long: what is between us and the host may have forgotten it.
inline constexpr std::chrono::seconds kLongestIdle{118};

}  // namespace ksana::http_client
