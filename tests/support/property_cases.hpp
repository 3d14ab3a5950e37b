#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace ksana::testing {

// Returns how many cases a property test runs: `full`, or a percentage of it under slow sanitizers,
// e.g. KSANA_PROPERTY_PERCENT=5.
inline int PropertyCases(int full) {
    const char* percent = std::getenv("KSANA_PROPERTY_PERCENT");
    return percent == nullptr ? full : full / 100 * std::stoi(percent);
}

}  // namespace ksana::testing
