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

// A named value of a log line. Holds views, so it must not outlive the call it is passed to.
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

// Parses "debug", "info", "warn" (or "warning"), "error" or "off"; otherwise kInvalidArgument.
Result<LogLevel> ParseLogLevel(std::string_view text);

// Sets level, format and destination. Call before threads start. By default, info and above go to
// standard error as text. Returns kInvalidArgument if the file cannot be opened.
Result<void> ConfigureLog(const LogOptions& options);

// Returns whether a line of this level would be written. Ask before computing costly fields.
bool LogEnabled(LogLevel level);

// Writes a log line. Thread-safe.
// Log(LogLevel::kInfo, "run finished", {{"job_id", id}, {"latency_ms", 12}});
void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});
void Log(LogLevel level, std::string_view message, std::span<const LogField> fields);

// Batches the log lines of the current thread: they are written together when the outermost
// LogBatch is destroyed, or when they exceed 64 KiB. A write takes longer than formatting a
// line. Keep it only while logging a batch. Must be destroyed on the thread that created it.
class LogBatch {
  public:
    LogBatch();
    ~LogBatch();
    LogBatch(const LogBatch&) = delete;
    LogBatch& operator=(const LogBatch&) = delete;
};

// Redirects all lines to `sink` until called with an empty function. For tests of the log output.
void SetLogSinkForTest(std::function<void(LogLevel, std::string_view line)> sink);

// Formats one log line without its newline. Control characters are escaped, so that values such as
// a job's name can neither forge a line nor control the terminal.
std::string FormatLogLine(LogFormat format, TimePoint time, LogLevel level,
                          std::string_view message, std::span<const LogField> fields);

std::string_view LogLevelName(LogLevel level);

}  // namespace ksana
