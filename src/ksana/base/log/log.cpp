#include "ksana/base/log/log.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include "ksana/base/log/log_file.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/text/json_output.hpp"
#include "ksana/base/text/names.hpp"
#include "ksana/base/text/number_text.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/base/time/time_text.hpp"

namespace ksana {
namespace {

// The state of the process-wide log.
struct LogState {
    std::atomic<LogLevel> level{LogLevel::kInfo};
    std::atomic<LogFormat> format{LogFormat::kText};
    Mutex mutex;
    LogFile file KSANA_GUARDED_BY(mutex);
    std::function<void(LogLevel, std::string_view)> test_sink KSANA_GUARDED_BY(mutex);
};

LogState& State() {
    static LogState state;
    return state;
}

// The lines that LogBatch collects, per thread.
struct Gathered {
    int depth = 0;  // number of live LogBatch objects
    std::string lines;
};
constexpr std::size_t kMaxGathered = 64 * 1024;

Gathered& OfThisThread() {
    thread_local Gathered gathered;
    return gathered;
}

void WriteGathered(LogState& state, Gathered& gathered) KSANA_REQUIRES(state.mutex) {
    if (gathered.lines.empty()) return;
    state.file.Write(gathered.lines);
    gathered.lines.clear();
}

}  // namespace

LogBatch::LogBatch() { ++OfThisThread().depth; }

LogBatch::~LogBatch() {
    Gathered& gathered = OfThisThread();
    if (--gathered.depth > 0 || gathered.lines.empty()) return;
    LogState& state = State();
    const MutexLock lock(state.mutex);
    WriteGathered(state, gathered);
}

Result<LogLevel> ParseLogLevel(std::string_view text) {
    static constexpr std::array<std::string_view, 6> kNames = {"debug", "info", "warn",
                                                               "error", "off",  "warning"};
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        if (kNames.at(i) == text) return i == 5 ? LogLevel::kWarn : static_cast<LogLevel>(i);
    }
    const auto meant = Nearest(text, kNames);
    return Error(Code::kInvalidArgument,
                 fmt::format("unknown log level{}; use debug, info, warn, error or off",
                             meant ? fmt::format(", did you mean {}?", *meant) : ""));
}

Result<void> ConfigureLog(const LogOptions& options) {
    LogFile file;
    if (!options.file.empty()) {
        KSANA_TRY(file, LogFile::Open(options.file));
    }
    LogState& state = State();
    const MutexLock lock(state.mutex);
    state.level = options.level;
    state.format = options.format;
    state.file = std::move(file);
    return {};
}

bool LogEnabled(LogLevel level) { return level >= State().level.load() && level != LogLevel::kOff; }

void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
    Log(level, message, std::span<const LogField>(fields.begin(), fields.size()));
}

void Log(LogLevel level, std::string_view message, std::span<const LogField> fields) {
    if (!LogEnabled(level)) return;
    LogState& state = State();
    const std::string line =
        FormatLogLine(state.format, SystemClock().Now(), level, message, fields);
    const MutexLock lock(state.mutex);
    if (state.test_sink) {
        state.test_sink(level, line);
        return;
    }
    Gathered& gathered = OfThisThread();
    if (gathered.depth == 0) return state.file.Write(line);
    if (gathered.lines.size() + line.size() > kMaxGathered) WriteGathered(state, gathered);
    if (!gathered.lines.empty()) gathered.lines += '\n';
    gathered.lines += line;
}

void SetLogSinkForTest(std::function<void(LogLevel, std::string_view line)> sink) {
    LogState& state = State();
    const MutexLock lock(state.mutex);
    state.test_sink = std::move(sink);
}

namespace {

// Fast path: most texts are plain ASCII and need no escaping.
bool IsPlainAscii(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

void AppendPrintable(std::string& out, std::string_view text) {
    if (IsPlainAscii(text)) {
        out += text;
    } else {
        out += Printable(text);
    }
}

// Appends the text as a JSON string. Printable escapes control characters and malformed UTF-8, so
// only the quote and the backslash remain to be escaped.
void AppendQuoted(std::string& out, std::string_view text) {
    const auto append = [&out](std::string_view printable) {
        for (const char c : printable) {
            if (c == '"' || c == '\\') out += '\\';
            out += c;
        }
    };
    out += '"';
    if (IsPlainAscii(text)) {
        append(text);
    } else {
        append(Printable(text));
    }
    out += '"';
}

bool NeedsQuotes(std::string_view text) {
    return text.empty() || text.find_first_of(" \"=\\") != std::string_view::npos ||
           (!IsPlainAscii(text) && Printable(text) != text);
}

void AppendValue(std::string& out, const LogField::Value& value) {
    if (const auto* text = std::get_if<std::string_view>(&value)) {
        if (NeedsQuotes(*text)) {
            AppendQuoted(out, *text);
        } else {
            out += *text;
        }
    } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
        AppendNumber(out, *number);
    } else if (const auto* count = std::get_if<std::uint64_t>(&value)) {
        AppendNumber(out, *count);
    } else if (const auto* flag = std::get_if<bool>(&value)) {
        out += *flag ? "true" : "false";
    } else if (const double real = std::get<double>(value); std::isfinite(real)) {
        AppendNumber(out, real);
    } else {
        out += "nan";
    }
}

// Control characters and broken UTF-8 are made visible, so that a value cannot forge a line.
void WriteVisible(JsonOutput& out, std::string_view text) {
    if (IsPlainAscii(text)) return out.Text(text);
    out.Text(Printable(text));
}

std::string FormatJson(TimePoint time, std::string_view level, std::string_view message,
                       std::span<const LogField> fields) {
    JsonOutput out;
    out.BeginObject();
    out.TextMember("time", FormatTime(time));
    out.TextMember("level", level);
    out.Key("message");
    WriteVisible(out, message);
    for (const LogField& field : fields) {
        out.Key(field.key());
        if (const auto* text = std::get_if<std::string_view>(&field.value())) {
            WriteVisible(out, *text);
        } else if (const auto* real = std::get_if<double>(&field.value());
                   real != nullptr && !std::isfinite(*real)) {
            out.Null();
        } else {
            std::string value;
            AppendValue(value, field.value());
            out.Raw(value);
        }
    }
    out.EndObject();
    return out.Take();
}

}  // namespace

std::string_view LogLevelName(LogLevel level) {
    static constexpr std::array<std::string_view, 5> kNames = {"debug", "info", "warn", "error",
                                                               "off"};
    return kNames.at(static_cast<std::size_t>(level));
}

std::string FormatLogLine(LogFormat format, TimePoint time, LogLevel level,
                          std::string_view message, std::span<const LogField> fields) {
    constexpr std::size_t kUsualLine = 384;
    constexpr std::size_t kLevelWidth = 5;
    const std::string_view name = LogLevelName(level);
    if (format == LogFormat::kJson) return FormatJson(time, name, message, fields);
    std::string line;
    line.reserve(kUsualLine);
    line.append(FormatTime(time)).append(1, ' ').append(name);
    line.append(kLevelWidth + 1 - std::min(kLevelWidth, name.size()), ' ');
    AppendPrintable(line, message);
    for (const LogField& field : fields) {
        line += ' ';
        AppendPrintable(line, field.key());
        line += '=';
        AppendValue(line, field.value());
    }
    return line;
}

}  // namespace ksana
