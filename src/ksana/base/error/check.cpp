#include "ksana/base/error/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace ksana {

void CheckFailed(const char* file, int line, const char* condition, std::string_view message) {
    // Writes to standard error directly, because the log itself may be broken.
    std::fprintf(stderr, "%s:%d: check failed: %s: %.*s\n", file, line, condition,
                 static_cast<int>(message.size()), message.data());
    std::fflush(stderr);
    std::abort();
}

}  // namespace ksana
