#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "ksana/base/log.hpp"
#include "ksana/base/time.hpp"

namespace ksana {

// One log line without its newline. Whatever the values hold, it stays one line: control
// characters are escaped, so a job's name cannot forge a line or drive the terminal.
std::string FormatLogLine(LogFormat format, TimePoint time, LogLevel level,
                          std::string_view message, std::span<const LogField> fields);

std::string_view LogLevelName(LogLevel level);

}  // namespace ksana
