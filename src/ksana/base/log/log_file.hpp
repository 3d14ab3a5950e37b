#pragma once

#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"

namespace ksana {

// The destination of the log: standard error, or a file opened for appending. Owns the file's
// descriptor. Not thread-safe.
class LogFile {
  public:
    // Writes to standard error.
    LogFile() = default;
    // Opens or creates the file; kInvalidArgument if that fails.
    static Result<LogFile> Open(const std::string& path);

    LogFile(LogFile&& other) noexcept;
    LogFile& operator=(LogFile&& other) noexcept;
    ~LogFile();

    // Writes the lines and a newline, with one system call if the system accepts them as a whole,
    // so that lines of other processes do not come in between. Errors are ignored: there is nowhere
    // to report them.
    void Write(std::string_view lines);

  private:
    explicit LogFile(int descriptor) : owned_(descriptor) {}

    int owned_ = -1;  // -1: standard error
};

}  // namespace ksana
