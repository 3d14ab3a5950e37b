#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace ksana::testing {

// How many cases a property test runs: the given number, or a share of it where the environment
// says so (the sanitizers are slow), e.g. KSANA_PROPERTY_PERCENT=5.
inline int PropertyCases(int full) {
    const char* percent = std::getenv("KSANA_PROPERTY_PERCENT");
    return percent == nullptr ? full : full / 100 * std::stoi(percent);
}

}  // namespace ksana::testing
