#pragma once

#include <string>
#include <string_view>

#include "ksana/base/error/error.hpp"

namespace ksana::store_postgres {

// What a failed exchange with the server means for the transaction it belonged to.
enum class FaultKind : std::uint8_t {
    kFinal,      // will fail again
    kConflict,   // another transaction was in the way: run it again
    kDuplicate,  // a row that was taken for new is there already, or has changed: look first
    kLost,       // the connection is gone
    kDeadline,   // no answer in time; the connection is given up
};

struct Fault {
    FaultKind kind = FaultKind::kFinal;
    Error error;
    std::string sqlstate{};  // of an error that the server has sent
};

// The meaning of an SQLSTATE. `message` is the server's own text, which holds no password.
Fault FaultOf(std::string_view sqlstate, std::string_view message);

Fault LostFault(std::string_view message);
Fault DeadlineFault(std::string_view what);

}  // namespace ksana::store_postgres
