#pragma once

#include <string>

#include "ksana/base/error/result.hpp"

namespace ksana::store_kit {

// An exclusive lock on a file beside a database, held by the one process that writes the database.
// The operating system releases it when the process ends for any reason; the file stays. Movable.
// Not thread-safe.
class FileLock {
  public:
    // Creates and locks `database_path`.lock. Does not wait: returns kUnavailable if another
    // process holds the lock or the file cannot be opened.
    static Result<FileLock> Take(const std::string& database_path);

    FileLock() = default;
    FileLock(FileLock&& other) noexcept;
    FileLock& operator=(FileLock&& other) noexcept;
    ~FileLock();

  private:
    explicit FileLock(int descriptor) : descriptor_(descriptor) {}

    int descriptor_ = -1;
};

}  // namespace ksana::store_kit
