#include "ksana/base/log_format.hpp"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>

#include "ksana/base/time_text.hpp"
#include "ksana/base/utf8.hpp"

namespace ksana {
namespace {

std::string NumberText(double value) {
    std::array<char, 32> buffer{};
    const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    return {buffer.data(), end};
}

// JSON text of a string. Printable has made control characters and broken UTF-8 visible, so only
// the quote and the backslash are left to escape.
std::string Quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : Printable(text)) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

bool NeedsQuotes(std::string_view text) {
    return text.empty() || text.find_first_of(" \"=\\") != std::string_view::npos ||
           Printable(text) != text;
}

std::string ValueText(const LogField::Value& value, LogFormat format) {
    if (const auto* text = std::get_if<std::string_view>(&value)) {
        const bool plain = format == LogFormat::kText && !NeedsQuotes(*text);
        return plain ? std::string(*text) : Quoted(*text);
    }
    if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
    if (const auto* number = std::get_if<std::uint64_t>(&value)) return fmt::format("{}", *number);
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
    const double number = std::get<double>(value);
    // JSON has no word for these.
    if (!std::isfinite(number)) return format == LogFormat::kJson ? "null" : "nan";
    return NumberText(number);
}

}  // namespace

std::string_view LogLevelName(LogLevel level) {
    static constexpr std::array<std::string_view, 5> kNames = {"debug", "info", "warn", "error",
                                                               "off"};
    return kNames.at(static_cast<std::size_t>(level));
}

std::string FormatLogLine(LogFormat format, TimePoint time, LogLevel level,
                          std::string_view message, std::span<const LogField> fields) {
    if (format == LogFormat::kJson) {
        std::string line = fmt::format("{{\"time\":\"{}\",\"level\":\"{}\",\"message\":{}",
                                       FormatTime(time), LogLevelName(level), Quoted(message));
        for (const LogField& field : fields) {
            line += fmt::format(",{}:{}", Quoted(field.key()), ValueText(field.value(), format));
        }
        return line + "}";
    }
    std::string line =
        fmt::format("{} {:<5} {}", FormatTime(time), LogLevelName(level), Printable(message));
    for (const LogField& field : fields) {
        line += fmt::format(" {}={}", Printable(field.key()), ValueText(field.value(), format));
    }
    return line;
}

}  // namespace ksana
