#pragma once

#include <string>
#include <string_view>

#include "ksana/base/error/error.hpp"

namespace ksana::libpq {

// What a failed round trip means for its transaction.
enum class FaultKind : std::uint8_t {
    kFinal,      // would fail again
    kConflict,   // another transaction interfered: run it again
    kDuplicate,  // a row assumed new exists, or a cached row has changed: run it again with `look`
    kLost,       // the connection is lost
    kDeadline,   // no answer in time; the connection is abandoned
};

struct Fault {
    FaultKind kind = FaultKind::kFinal;
    Error error;
    std::string sqlstate{};  // set if the server has sent an error
};

// Returns the fault that an SQLSTATE means. `message` is the text of the server or of libpq, which
// contains no password.
Fault FaultOf(std::string_view sqlstate, std::string_view message);

Fault LostFault(std::string_view message);
Fault DeadlineFault(std::string_view what);

}  // namespace ksana::libpq
