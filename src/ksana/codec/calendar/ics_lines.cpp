#include "ksana/codec/calendar/ics_lines.hpp"

#include <charconv>

#include <fmt/core.h>

#include "ksana/base/text/utf8.hpp"
#include "ksana/schedule/zone/date_text.hpp"

namespace ksana::codec {
namespace {

// Takes text up to one of `ends` outside of quotes, and removes the quotes. The remainder stays in
// `rest`.
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

namespace {

using schedule::Date;

constexpr int kMaxCount = 8'000;  // years in the calendar
constexpr std::size_t kMostShown = 40;

std::optional<int> Number(std::string_view text) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

// Reads the parts of an RRULE one by one. Lives in one call of ReadYearlyRule.
class Reader {
  public:
    Reader(const Date& start, IcsYearly& out) : start_(start), out_(out) {}

    void Part(std::string_view part) {
        const std::size_t equals = part.find('=');
        const std::string name = UpperCase(part.substr(0, equals));
        const std::string_view value =
            equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
        if (name == "FREQ") {
            yearly_ = UpperCase(value) == "YEARLY";
            if (!yearly_) Fault(part);
        } else if (name == "UNTIL") {
            out_.until = ReadIcsDate(value.substr(0, 8));
            if (!out_.until) Fault(part);
        } else if (name == "COUNT") {
            Count(part, Number(value));
        } else if (name != "WKST" && !Repeats(name, value)) {
            Fault(part);
        }
    }

    void Finish() {
        if (!yearly_ && out_.fault.empty()) out_.fault = "RRULE has no FREQ";
    }

  private:
    // Returns whether the part only repeats what the start date says.
    bool Repeats(const std::string& name, std::string_view value) const {
        return (name == "INTERVAL" && Number(value) == 1) ||
               (name == "BYMONTH" && Number(value) == start_.month) ||
               (name == "BYMONTHDAY" && Number(value) == start_.day);
    }

    void Count(std::string_view part, std::optional<int> count) {
        const bool leap_day = start_.month == 2 && start_.day == 29;
        if (!count || *count < 1 || *count > kMaxCount || leap_day) return Fault(part);
        out_.until = Date{std::min(start_.year + *count - 1, 9999), start_.month, start_.day};
    }

    void Fault(std::string_view part) {
        if (!out_.fault.empty()) return;
        out_.fault = fmt::format("RRULE with {} cannot be said by a rule",
                                 Printable(Excerpt(part, kMostShown)));
    }

    const Date& start_;
    IcsYearly& out_;
    bool yearly_ = false;
};

}  // namespace

std::optional<Date> ReadIcsDate(std::string_view text) {
    if (text.size() != 8) return std::nullopt;
    const auto date = schedule::ParseDate(
        fmt::format("{}-{}-{}", text.substr(0, 4), text.substr(4, 2), text.substr(6, 2)));
    return date && date->IsValid() ? date : std::nullopt;
}

IcsYearly ReadYearlyRule(std::string_view rule, const Date& start) {
    IcsYearly yearly;
    Reader reader(start, yearly);
    while (!rule.empty()) {
        const std::size_t end = rule.find(';');
        if (const std::string_view part = rule.substr(0, end); !part.empty()) reader.Part(part);
        rule.remove_prefix(end == std::string_view::npos ? rule.size() : end + 1);
    }
    reader.Finish();
    if (yearly.fault.empty() && yearly.until && *yearly.until < start) {
        yearly.fault = "RRULE ends before it starts";
    }
    return yearly;
}

}  // namespace ksana::codec
