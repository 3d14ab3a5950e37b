#pragma once

#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"

namespace ksana {

// Where the log goes: standard error, or a file that is appended to. Not thread-safe.
class LogFile {
  public:
    LogFile() = default;  // standard error
    static Result<LogFile> Open(const std::string& path);

    LogFile(LogFile&& other) noexcept;
    LogFile& operator=(LogFile&& other) noexcept;
    ~LogFile();

    // With a newline behind them, in one write where the system takes them whole: lines of other
    // processes do not come between. What cannot be written is lost, as nobody could be told.
    void Write(std::string_view lines);

  private:
    explicit LogFile(int descriptor) : owned_(descriptor) {}

    int owned_ = -1;  // none: standard error
};

}  // namespace ksana
