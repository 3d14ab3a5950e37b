#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "ksana/base/log/log.hpp"

namespace ksana {

// Writes log lines that carry a name. Cheap to copy; thread-safe. The lines go where the log of the
// process goes (ConfigureLog): to standard error, unless said otherwise.
//
//   logger.Info("cleaned", {{"count", count}});
class Logger {
  public:
    using Fields = std::initializer_list<LogField>;

    explicit Logger(std::string name = "ksana") : name_(std::move(name)) {}

    const std::string& name() const { return name_; }

    void Debug(std::string_view message, Fields fields = {}) const {
        Write(LogLevel::kDebug, message, fields);
    }
    void Info(std::string_view message, Fields fields = {}) const {
        Write(LogLevel::kInfo, message, fields);
    }
    void Warn(std::string_view message, Fields fields = {}) const {
        Write(LogLevel::kWarn, message, fields);
    }
    void Error(std::string_view message, Fields fields = {}) const {
        Write(LogLevel::kError, message, fields);
    }

  private:
    void Write(LogLevel level, std::string_view message, Fields fields) const;

    std::string name_;
};

}  // namespace ksana
