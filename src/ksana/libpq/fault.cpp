#include "ksana/libpq/fault.hpp"

#include <fmt/core.h>

#include <array>

namespace ksana::libpq {
namespace {

struct Meaning {
    std::string_view prefix;  // of the SQLSTATE; the first match counts
    Code code;
    FaultKind kind;
};

constexpr std::array kMeanings = {
    Meaning{"08", Code::kUnavailable, FaultKind::kLost},
    Meaning{"57P0", Code::kUnavailable, FaultKind::kLost},
    Meaning{"57014", Code::kDeadlineExceeded, FaultKind::kFinal},
    Meaning{"25P03", Code::kUnavailable, FaultKind::kLost},  // idle in transaction for too long
    Meaning{"25006", Code::kUnavailable, FaultKind::kLost},  // a standby: the primary has moved
    Meaning{"53100", Code::kStorageFull, FaultKind::kFinal},
    Meaning{"53", Code::kExhausted, FaultKind::kFinal},
    Meaning{"55P03", Code::kConflict, FaultKind::kConflict},
    Meaning{"40", Code::kConflict, FaultKind::kConflict},
    Meaning{"22021", Code::kInvalidArgument, FaultKind::kFinal},  // invalid UTF-8, or a zero byte
    Meaning{"22", Code::kInternal, FaultKind::kFinal},
    Meaning{"23505", Code::kInternal, FaultKind::kDuplicate},
    // store_postgres/rows/run_writes.cpp: a NULL id marks an existing run.
    Meaning{"23502", Code::kInternal, FaultKind::kDuplicate},
    Meaning{"23", Code::kInternal, FaultKind::kFinal},
    Meaning{"28", Code::kUnauthenticated, FaultKind::kFinal},
    Meaning{"3D000", Code::kNotFound, FaultKind::kFinal},  // no such database
    Meaning{"42501", Code::kPermissionDenied, FaultKind::kFinal},
    Meaning{"XX001", Code::kDataLoss, FaultKind::kFinal},
    Meaning{"XX002", Code::kDataLoss, FaultKind::kFinal},
};

// Returns the first line; further lines of libpq are advice.
std::string_view Trimmed(std::string_view text) { return text.substr(0, text.find('\n')); }

}  // namespace

Fault FaultOf(std::string_view sqlstate, std::string_view message) {
    Fault fault{
        FaultKind::kFinal,
        Error(Code::kInternal, fmt::format("PostgreSQL: {} ({})", Trimmed(message), sqlstate)),
        std::string(sqlstate)};
    for (const Meaning& meaning : kMeanings) {
        if (!sqlstate.starts_with(meaning.prefix)) continue;
        fault.kind = meaning.kind;
        fault.error.code = meaning.code;
        break;
    }
    return fault;
}

Fault LostFault(std::string_view message) {
    return {FaultKind::kLost,
            Error(Code::kUnavailable, fmt::format("PostgreSQL: {}", Trimmed(message)))};
}

Fault DeadlineFault(std::string_view what) {
    return {FaultKind::kDeadline,
            Error(Code::kDeadlineExceeded, fmt::format("PostgreSQL: {} in time", what))};
}

}  // namespace ksana::libpq
