#include "ksana/base/time/time_text.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include <fmt/core.h>

#include "ksana/base/error/check.hpp"

namespace ksana {
namespace {

using std::chrono::days;
using std::chrono::sys_days;

Error Bad(std::string_view why) {
    return {Code::kInvalidArgument,
            fmt::format("{}; write a time like \"2026-01-01T00:00:00Z\"", why)};
}

// Reads from the front of a text. Each method returns whether it found what it expected.
class Scanner {
  public:
    explicit Scanner(std::string_view text) : text_(text) {}

    bool Number(int digits, int& out) {
        if (text_.size() < static_cast<std::size_t>(digits)) return false;
        out = 0;
        for (int i = 0; i < digits; ++i) {
            const char c = text_[static_cast<std::size_t>(i)];
            if (c < '0' || c > '9') return false;
            out = out * 10 + (c - '0');
        }
        text_.remove_prefix(static_cast<std::size_t>(digits));
        return true;
    }

    bool Literal(char c) {
        if (!text_.starts_with(c)) return false;
        text_.remove_prefix(1);
        return true;
    }

    // Reads ".25" as microseconds. An absent fraction is zero.
    bool Fraction(std::int64_t& microseconds) {
        microseconds = 0;
        if (!Literal('.')) return true;
        int digits = 0;
        for (; !text_.empty() && text_[0] >= '0' && text_[0] <= '9'; ++digits) {
            if (digits < 6) microseconds = microseconds * 10 + (text_[0] - '0');
            text_.remove_prefix(1);
        }
        for (int i = digits; i < 6; ++i) microseconds *= 10;
        return digits >= 1 && digits <= 9;
    }

    bool AtEnd() const { return text_.empty(); }

  private:
    std::string_view text_;
};

// Reads an offset and returns it in minutes east of UTC.
std::optional<int> ReadOffset(Scanner& scanner) {
    if (scanner.Literal('Z')) return 0;
    int sign = 0;
    if (scanner.Literal('+')) sign = 1;
    if (sign == 0 && scanner.Literal('-')) sign = -1;
    int hours = 0;
    int minutes = 0;
    if (sign == 0 || !scanner.Number(2, hours) || !scanner.Literal(':') ||
        !scanner.Number(2, minutes) || hours > 23 || minutes > 59) {
        return std::nullopt;
    }
    return sign * (hours * 60 + minutes);
}

// Hand-written: records hold many times, and a format string costs ten times as much.
void PutDigits(std::string& text, std::size_t at, std::size_t digits, std::int64_t value) {
    for (std::size_t i = at + digits; i > at; --i, value /= 10) {
        text[i - 1] = static_cast<char>('0' + value % 10);
    }
}

}  // namespace

TimePoint MinTime() { return TimePoint(sys_days(std::chrono::year(0) / 1 / 1)); }

TimePoint MaxTime() {
    return TimePoint(sys_days(std::chrono::year(9999) / 12 / 31) + days(1)) - Duration(1);
}

Result<TimePoint> ParseTime(std::string_view text) {
    if (text.empty()) return Bad("the time is empty");
    Scanner scanner(text);
    int year = 0;
    int month = 0;
    int day = 0;
    if (!scanner.Number(4, year) || !scanner.Literal('-') || !scanner.Number(2, month) ||
        !scanner.Literal('-') || !scanner.Number(2, day)) {
        return Bad("the time does not start with a date YYYY-MM-DD");
    }
    if (!scanner.Literal('T')) return Bad("between date and time of day stands a capital T");
    int hour = 0;
    int minute = 0;
    int second = 0;
    if (!scanner.Number(2, hour) || !scanner.Literal(':') || !scanner.Number(2, minute) ||
        !scanner.Literal(':') || !scanner.Number(2, second)) {
        return Bad("the time of day is not HH:MM:SS");
    }
    std::int64_t microseconds = 0;
    if (!scanner.Fraction(microseconds)) return Bad("a second's fraction has 1 to 9 digits");
    const std::optional<int> offset = ReadOffset(scanner);
    if (!offset) return Bad("the offset is neither Z nor +HH:MM nor -HH:MM");
    if (!scanner.AtEnd()) return Bad("something follows the time");

    const std::chrono::year_month_day date{std::chrono::year(year),
                                           std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (!date.ok()) return Bad("there is no such date");
    if (hour > 23 || minute > 59 || second > 59) return Bad("there is no such time of day");
    const TimePoint instant = TimePoint(sys_days(date)) + std::chrono::hours(hour) +
                              std::chrono::minutes(minute - *offset) +
                              std::chrono::seconds(second) + Duration(microseconds);
    if (instant < MinTime() || instant > MaxTime()) {
        return Bad("the time lies outside the years 0000 to 9999 in UTC");
    }
    return instant;
}

std::string FormatTime(TimePoint instant) {
    KSANA_CHECK(instant >= MinTime() && instant <= MaxTime(), "a time outside 0000 to 9999");
    const auto midnight = std::chrono::floor<days>(instant);
    const std::chrono::year_month_day date{midnight};
    const std::chrono::hh_mm_ss time{instant - midnight};
    std::string text = "0000-00-00T00:00:00.000000Z";
    PutDigits(text, 0, 4, static_cast<int>(date.year()));
    PutDigits(text, 5, 2, static_cast<unsigned>(date.month()));
    PutDigits(text, 8, 2, static_cast<unsigned>(date.day()));
    PutDigits(text, 11, 2, time.hours().count());
    PutDigits(text, 14, 2, time.minutes().count());
    PutDigits(text, 17, 2, time.seconds().count());
    if (const auto us = time.subseconds().count(); us != 0) {
        PutDigits(text, 20, 6, us);
    } else {
        text.erase(19, 7);
    }
    return text;
}

namespace {

// Bounds the work and the length of the error message.
constexpr std::size_t kMaxDurationText = 64;

// Holds the nanoseconds of every accepted duration, with room to detect values that are too large.
__extension__ using Wide = __int128;

struct Unit {
    std::string_view name;
    std::int64_t nanoseconds;
};

constexpr std::array<Unit, 8> kUnits = {{{"h", 3'600'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"s", 1'000'000'000},
                                         {"ms", 1'000'000},
                                         {"us", 1'000},
                                         {"\xC2\xB5s", 1'000},  // U+00B5 micro sign, as Go prints
                                         {"\xCE\xBCs", 1'000},  // U+03BC Greek mu, as Go reads
                                         {"ns", 1}}};

// A number with its unit, in nanoseconds: whole * unit + fraction.
struct Part {
    Wide nanoseconds = 0;
    bool exact = true;  // false: the fraction was finer than a nanosecond
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string_view TakeDigits(std::string_view& text) {
    std::size_t n = 0;
    while (n < text.size() && IsDigit(text[n])) ++n;
    const std::string_view digits = text.substr(0, n);
    text.remove_prefix(n);
    return digits;
}

const Unit* TakeUnit(std::string_view& text) {
    std::size_t n = 0;
    while (n < text.size() && !IsDigit(text[n]) && text[n] != '.') ++n;
    const std::string_view name = text.substr(0, n);
    for (const Unit& unit : kUnits) {
        if (unit.name == name) {
            text.remove_prefix(n);
            return &unit;
        }
    }
    return nullptr;
}

std::optional<Part> Multiply(std::string_view whole, std::string_view fraction, const Unit& unit) {
    Part part;
    for (const char digit : whole) {
        part.nanoseconds = part.nanoseconds * 10 + (digit - '0');
        // Beyond any valid value already: stop before the 128 bits overflow.
        if (part.nanoseconds > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
    }
    part.nanoseconds *= unit.nanoseconds;
    Wide scale = unit.nanoseconds;
    for (const char digit : fraction) {
        if (digit != '0' && (scale == 0 || scale % 10 != 0)) part.exact = false;
        scale /= 10;
        part.nanoseconds += scale * (digit - '0');
    }
    return part;
}

Error BadDuration(std::string_view why) {
    return {Code::kInvalidArgument,
            fmt::format("{}; write a duration like \"1h30m\", \"10s\" or \"250ms\"", why)};
}

// As Go's format (the leading unit and all below it), but without the parts that are zero.
std::string FormatPositive(std::uint64_t us) {
    if (us < 1'000) return fmt::format("{}us", us);
    const auto with_fraction = [](std::uint64_t value, std::uint64_t per_unit, int digits,
                                  std::string_view unit) {
        std::string text = fmt::format("{}", value / per_unit);
        if (value % per_unit != 0) {
            std::string fraction = fmt::format("{:0{}}", value % per_unit, digits);
            fraction.erase(fraction.find_last_not_of('0') + 1);
            text += '.' + fraction;
        }
        return text.append(unit);
    };
    if (us < 1'000'000) return with_fraction(us, 1'000, 3, "ms");
    std::string text;
    if (const std::uint64_t hours = us / 3'600'000'000; hours > 0)
        text += fmt::format("{}h", hours);
    if (const std::uint64_t minutes = us / 60'000'000 % 60; minutes > 0) {
        text += fmt::format("{}m", minutes);
    }
    if (us % 60'000'000 != 0) text += with_fraction(us % 60'000'000, 1'000'000, 6, "s");
    return text;
}

}  // namespace

Result<Duration> ParseDuration(std::string_view text) {
    if (text.empty()) return BadDuration("the duration is empty");
    if (text.size() > kMaxDurationText) return BadDuration("the duration is too long");
    const bool negative = text.front() == '-';
    if (negative || text.front() == '+') text.remove_prefix(1);
    if (text == "0") return Duration::zero();
    if (text.empty()) return BadDuration("the duration has a sign and no number");

    Wide total = 0;
    while (!text.empty()) {
        const std::string_view whole = TakeDigits(text);
        std::string_view fraction;
        if (text.starts_with('.')) {
            text.remove_prefix(1);
            fraction = TakeDigits(text);
        }
        if (whole.empty() && fraction.empty())
            return BadDuration("a number is missing in the duration");
        if (text.empty()) return BadDuration("the duration has a number without a unit");
        const Unit* unit = TakeUnit(text);
        if (unit == nullptr) return BadDuration("the duration has an unknown unit");
        const std::optional<Part> part = Multiply(whole, fraction, *unit);
        if (!part) return BadDuration("the duration is too large");
        if (!part->exact) return BadDuration("the duration is finer than a microsecond");
        total += part->nanoseconds;
    }
    if (total % 1'000 != 0) return BadDuration("the duration is finer than a microsecond");
    total = total / 1'000 * (negative ? -1 : 1);
    // The sign is applied first, because the most negative value has no positive counterpart.
    if (total > std::numeric_limits<std::int64_t>::max() ||
        total < std::numeric_limits<std::int64_t>::min()) {
        return BadDuration("the duration is too large");
    }
    return Duration(static_cast<std::int64_t>(total));
}

std::string FormatDuration(Duration duration) {
    const std::int64_t us = duration.count();
    if (us == 0) return "0s";
    // Unsigned arithmetic, because the magnitude of the most negative value does not fit into
    // int64.
    const std::uint64_t magnitude =
        us < 0 ? 0 - static_cast<std::uint64_t>(us) : static_cast<std::uint64_t>(us);
    return (us < 0 ? "-" : "") + FormatPositive(magnitude);
}

}  // namespace ksana
