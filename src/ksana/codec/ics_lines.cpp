#include "ksana/codec/ics_lines.hpp"

namespace ksana::codec {
namespace {

// Up to one of the characters, quotes taken as one; what follows stays in `rest`.
std::string TakeUntil(std::string_view& rest, std::string_view ends) {
    std::string taken;
    bool quoted = false;
    std::size_t i = 0;
    for (; i < rest.size(); ++i) {
        const char c = rest[i];
        if (c == '"') {
            quoted = !quoted;
        } else if (!quoted && ends.find(c) != std::string_view::npos) {
            break;
        } else {
            taken += c;
        }
    }
    rest.remove_prefix(i);
    return taken;
}

IcsLine Parse(std::string_view text, std::size_t number) {
    IcsLine line;
    line.number = number;
    line.name = UpperCase(TakeUntil(text, ";:"));
    while (text.starts_with(';')) {
        text.remove_prefix(1);
        std::string name = UpperCase(TakeUntil(text, "=;:"));
        std::string value;
        if (text.starts_with('=')) {
            text.remove_prefix(1);
            value = TakeUntil(text, ";:");
        }
        line.parameters.emplace_back(std::move(name), std::move(value));
    }
    if (!text.starts_with(':'))
        return {.number = number, .name = {}, .parameters = {}, .value = {}};
    line.value = std::string(text.substr(1));
    return line;
}

}  // namespace

std::string UpperCase(std::string_view text) {
    std::string upper(text);
    for (char& c : upper) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - ('a' - 'A'));
    }
    return upper;
}

std::optional<std::string_view> IcsLine::Parameter(std::string_view parameter) const {
    for (const auto& [known, text] : parameters) {
        if (known == parameter) return text;
    }
    return std::nullopt;
}

std::string_view IcsReader::TakeLine() {
    const std::size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number_;
    return line;
}

std::optional<IcsLine> IcsReader::Next() {
    while (!rest_.empty()) {
        std::string text(TakeLine());
        const std::size_t number = number_;
        while (rest_.starts_with(' ') || rest_.starts_with('\t')) text += TakeLine().substr(1);
        if (!text.empty()) return Parse(text, number);
    }
    return std::nullopt;
}

}  // namespace ksana::codec
