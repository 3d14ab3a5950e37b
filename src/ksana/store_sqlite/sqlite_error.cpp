#include "ksana/store_sqlite/sqlite_error.hpp"

#include <fmt/core.h>
#include <sqlite3.h>

#include <array>

namespace ksana::store_sqlite {
namespace {

struct Meaning {
    int rc;
    Code code;
};

constexpr int kPrimaryMask = 0xff;

// Looked up by the extended code first, then by the primary one.
constexpr std::array kMeanings = {
    Meaning{SQLITE_CONSTRAINT_PRIMARYKEY, Code::kAlreadyExists},
    Meaning{SQLITE_CONSTRAINT_UNIQUE, Code::kAlreadyExists},
    Meaning{SQLITE_CONSTRAINT_ROWID, Code::kAlreadyExists},
    Meaning{SQLITE_FULL, Code::kExhausted},
    Meaning{SQLITE_NOMEM, Code::kExhausted},
    Meaning{SQLITE_BUSY, Code::kUnavailable},
    Meaning{SQLITE_LOCKED, Code::kUnavailable},
    Meaning{SQLITE_IOERR, Code::kUnavailable},
    Meaning{SQLITE_CANTOPEN, Code::kUnavailable},
    Meaning{SQLITE_PROTOCOL, Code::kUnavailable},
    Meaning{SQLITE_PERM, Code::kPermissionDenied},
    Meaning{SQLITE_READONLY, Code::kPermissionDenied},
    Meaning{SQLITE_CORRUPT, Code::kDataLoss},
    Meaning{SQLITE_NOTADB, Code::kDataLoss},
    Meaning{SQLITE_TOOBIG, Code::kInvalidArgument},
};

}  // namespace

Code CodeOf(int rc) {
    for (const Meaning& meaning : kMeanings) {
        if (meaning.rc == rc) return meaning.code;
    }
    for (const Meaning& meaning : kMeanings) {
        if (meaning.rc == (rc & kPrimaryMask)) return meaning.code;
    }
    return Code::kInternal;
}

Error SqliteError(int rc, std::string_view doing, std::string_view text) {
    return {CodeOf(rc), fmt::format("sqlite: {}: {} ({})", doing, text, rc)};
}

}  // namespace ksana::store_sqlite
