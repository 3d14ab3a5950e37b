#include "ksana/base/log.hpp"

#include <fmt/core.h>

#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include "ksana/base/clock.hpp"
#include "ksana/base/log_file.hpp"
#include "ksana/base/log_format.hpp"
#include "ksana/base/nearest.hpp"

namespace ksana {
namespace {

// The process has one log, like it has one standard error.
struct LogState {
    std::atomic<LogLevel> level{LogLevel::kInfo};
    std::atomic<LogFormat> format{LogFormat::kText};
    std::mutex mutex;
    LogFile file;                                               // guarded by mutex
    std::function<void(LogLevel, std::string_view)> test_sink;  // guarded by mutex
};

LogState& State() {
    static LogState state;
    return state;
}

// Of one thread.
struct Gathered {
    int depth = 0;  // LogTogether that live
    std::string lines;
};
constexpr std::size_t kMaxGathered = 64 * 1024;

Gathered& OfThisThread() {
    thread_local Gathered gathered;
    return gathered;
}

// With state.mutex.
void WriteGathered(LogState& state, Gathered& gathered) {
    if (gathered.lines.empty()) return;
    state.file.Write(gathered.lines);
    gathered.lines.clear();
}

}  // namespace

LogTogether::LogTogether() { ++OfThisThread().depth; }

LogTogether::~LogTogether() {
    Gathered& gathered = OfThisThread();
    if (--gathered.depth > 0 || gathered.lines.empty()) return;
    LogState& state = State();
    const std::lock_guard lock(state.mutex);
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
    const std::lock_guard lock(state.mutex);
    state.level = options.level;
    state.format = options.format;
    state.file = std::move(file);
    return {};
}

bool LogEnabled(LogLevel level) { return level >= State().level.load() && level != LogLevel::kOff; }

void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
    if (!LogEnabled(level)) return;
    LogState& state = State();
    const std::string line =
        FormatLogLine(state.format, SystemClock().Now(), level, message,
                      std::span<const LogField>(fields.begin(), fields.size()));
    const std::lock_guard lock(state.mutex);
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
    const std::lock_guard lock(state.mutex);
    state.test_sink = std::move(sink);
}

}  // namespace ksana
