#include "ksana/base/log.hpp"

#include <fmt/core.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "ksana/base/clock.hpp"
#include "ksana/base/log_format.hpp"
#include "ksana/base/nearest.hpp"

namespace ksana {
namespace {

// The process has one log, like it has one standard error.
struct LogState {
    std::atomic<LogLevel> level{LogLevel::kInfo};
    std::atomic<LogFormat> format{LogFormat::kText};
    std::mutex mutex;
    std::shared_ptr<spdlog::logger> logger;                     // guarded by mutex
    std::function<void(LogLevel, std::string_view)> test_sink;  // guarded by mutex
};

std::shared_ptr<spdlog::logger> MakeLogger(spdlog::sink_ptr sink) {
    auto logger = std::make_shared<spdlog::logger>("ksana", std::move(sink));
    logger->set_pattern("%v");  // the line is already whole
    logger->set_level(spdlog::level::trace);
    logger->flush_on(spdlog::level::trace);
    return logger;
}

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
void Write(LogState& state, std::string_view lines) {
    if (!state.logger) state.logger = MakeLogger(std::make_shared<spdlog::sinks::stderr_sink_mt>());
    state.logger->log(spdlog::level::info, spdlog::string_view_t(lines.data(), lines.size()));
}

void WriteGathered(LogState& state, Gathered& gathered) {
    if (gathered.lines.empty()) return;
    Write(state, gathered.lines);
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
    spdlog::sink_ptr sink;
    if (options.file.empty()) {
        sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    } else {
        try {
            sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.file);
        } catch (const spdlog::spdlog_ex& error) {
            return Error(Code::kInvalidArgument, fmt::format("cannot open the log file {}: {}",
                                                             options.file, error.what()));
        }
    }
    LogState& state = State();
    const std::lock_guard lock(state.mutex);
    state.level = options.level;
    state.format = options.format;
    state.logger = MakeLogger(std::move(sink));
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
    if (gathered.depth == 0) return Write(state, line);
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
