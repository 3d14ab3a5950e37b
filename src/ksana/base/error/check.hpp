#pragma once

#include <string_view>

namespace ksana {

// Prints what was wrong and where, then aborts. Leases and the ledger make a crash safe; going on
// with a broken invariant is not.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              std::string_view message);

}  // namespace ksana

// For programmer errors only, never for what users, networks or disks can do. Always on.
#define KSANA_CHECK(condition, message)                                      \
    do {                                                                     \
        if (!(condition)) [[unlikely]]                                       \
            ::ksana::CheckFailed(__FILE__, __LINE__, #condition, (message)); \
    } while (false)
