#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"

namespace ksana {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarn, kError, kOff };
enum class LogFormat : std::uint8_t { kText, kJson };

// A named value of a log line. Holds views: only for the duration of a call.
class LogField {
  public:
    using Value = std::variant<std::string_view, std::int64_t, std::uint64_t, double, bool>;

    LogField(std::string_view key, std::string_view value) : key_(key), value_(value) {}
    LogField(std::string_view key, const std::string& value)
        : key_(key), value_(std::string_view(value)) {}
    LogField(std::string_view key, const char* value)
        : key_(key), value_(std::string_view(value)) {}
    LogField(std::string_view key, bool value) : key_(key), value_(value) {}
    LogField(std::string_view key, double value) : key_(key), value_(value) {}
    LogField(std::string_view key, std::signed_integral auto value)
        : key_(key), value_(static_cast<std::int64_t>(value)) {}
    LogField(std::string_view key, std::unsigned_integral auto value)
        : key_(key), value_(static_cast<std::uint64_t>(value)) {}

    std::string_view key() const { return key_; }
    const Value& value() const { return value_; }

  private:
    std::string_view key_;
    Value value_;
};

struct LogOptions {
    LogLevel level = LogLevel::kInfo;
    LogFormat format = LogFormat::kText;
    std::string file;  // empty: standard error
};

// "debug", "info", "warn" (or "warning"), "error", "off".
Result<LogLevel> ParseLogLevel(std::string_view text);

// Before threads start; without it, info and above go to standard error as text.
Result<void> ConfigureLog(const LogOptions& options);

// True when a line of this level would be written: ask before computing costly fields.
bool LogEnabled(LogLevel level);

// The facade everything logs through. Thread-safe.
// Log(LogLevel::kInfo, "run finished", {{"job_id", id}, {"latency_ms", 12}});
void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});

// What this thread logs while one of these lives is written together at its end: a write of its own
// takes longer than making a line. For as long as it takes to tell of a batch.
class LogTogether {
  public:
    LogTogether();
    ~LogTogether();
    LogTogether(const LogTogether&) = delete;
    LogTogether& operator=(const LogTogether&) = delete;
};

// Lines go to `sink` instead, until called with nothing. For tests that look at what was logged.
void SetLogSinkForTest(std::function<void(LogLevel, std::string_view line)> sink);

// One log line without its newline. Whatever the values hold, it stays one line: control
// characters are escaped, so a job's name cannot forge a line or drive the terminal.
std::string FormatLogLine(LogFormat format, TimePoint time, LogLevel level,
                          std::string_view message, std::span<const LogField> fields);

std::string_view LogLevelName(LogLevel level);

}  // namespace ksana
