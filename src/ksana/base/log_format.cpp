#include "ksana/base/log_format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "ksana/base/time_text.hpp"
#include "ksana/base/utf8.hpp"

namespace ksana {
namespace {

template <class T>
void AppendNumber(std::string& out, T value) {
    std::array<char, 32> buffer{};
    const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    out.append(buffer.data(), end);
}

// Most texts are, and need not be looked at more closely.
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

// As JSON. Printable makes control characters and broken UTF-8 visible, so only the quote and the
// backslash are left to escape.
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

void AppendValue(std::string& out, const LogField::Value& value, LogFormat format) {
    if (const auto* text = std::get_if<std::string_view>(&value)) {
        const bool plain = format == LogFormat::kText && !NeedsQuotes(*text);
        if (plain) {
            out += *text;
        } else {
            AppendQuoted(out, *text);
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
        out += format == LogFormat::kJson ? "null" : "nan";  // JSON has no word for these
    }
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
    std::string line;
    line.reserve(kUsualLine);
    const std::string_view name = LogLevelName(level);
    if (format == LogFormat::kJson) {
        line.append(R"({"time":")").append(FormatTime(time)).append(R"(","level":")");
        line.append(name).append(R"(","message":)");
        AppendQuoted(line, message);
        for (const LogField& field : fields) {
            line += ',';
            AppendQuoted(line, field.key());
            line += ':';
            AppendValue(line, field.value(), format);
        }
        line += '}';
        return line;
    }
    line.append(FormatTime(time)).append(1, ' ').append(name);
    line.append(kLevelWidth + 1 - std::min(kLevelWidth, name.size()), ' ');
    AppendPrintable(line, message);
    for (const LogField& field : fields) {
        line += ' ';
        AppendPrintable(line, field.key());
        line += '=';
        AppendValue(line, field.value(), format);
    }
    return line;
}

}  // namespace ksana
