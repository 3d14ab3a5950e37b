#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/store_sqlite/wire/connection.hpp"

namespace ksana::store_sqlite {

// Looks before each transaction whether the database and its log are still the files that the
// writer has open. If somebody has deleted, replaced or cut one of them, nothing is written any
// more: what would be acknowledged could not be found after the next start, and what is left of the
// files may be the only copy. A log that was deleted is copied into the database first, which
// loses nothing.
//
// Owned by SqliteWriter; used by the writer thread.
class FileGuard {
  public:
    // `sums` may be null.
    FileGuard(std::string path, Connection& connection, PageSums* sums);

    // Returns kDataLoss from the first fault on.
    Result<void> Check();

  private:
    Result<void> Stop(const std::string& what);

    const std::string path_;
    Connection& connection_;
    PageSums* const sums_;
    std::uint64_t database_file_;  // inode; 0: unknown
    std::uint64_t log_file_;
    std::optional<Error> stopped_;
};

}  // namespace ksana::store_sqlite
