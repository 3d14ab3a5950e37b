#pragma once

#include <string_view>

namespace ksana {

// Prints the failed condition and its place, then aborts. Leases and the ledger make a crash safe;
// continuing with a broken invariant is not.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              std::string_view message);

}  // namespace ksana

// For programmer errors only, never for conditions that users, networks or disks can cause. Always
// enabled.
#define KSANA_CHECK(condition, message)                                      \
    do {                                                                     \
        if (!(condition)) [[unlikely]]                                       \
            ::ksana::CheckFailed(__FILE__, __LINE__, #condition, (message)); \
    } while (false)
