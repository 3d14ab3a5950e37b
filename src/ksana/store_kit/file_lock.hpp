#pragma once

#include <string>

#include "ksana/base/error/result.hpp"

namespace ksana::store_kit {

// Held by the one process that writes a database, on a file beside it. The system lets go of it
// when the process ends, however it ends; the file itself stays.
class FileLock {
  public:
    // kUnavailable when somebody else holds it; does not wait.
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
