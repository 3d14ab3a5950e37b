#include "ksana/base/time_text.hpp"

#include <fmt/core.h>

#include <cstdint>
#include <optional>

#include "ksana/base/check.hpp"

namespace ksana {
namespace {

using std::chrono::days;
using std::chrono::sys_days;

Error Bad(std::string_view why) {
    return {Code::kInvalidArgument,
            fmt::format("{}; write a time like \"2026-01-01T00:00:00Z\"", why)};
}

// Reads from the front of a text; every method answers whether it found what it wanted.
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

    // ".25" as microseconds; nothing there is zero.
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

// Minutes east of UTC.
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

// By hand: records hold many times, and a format string costs ten times as much.
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

}  // namespace ksana
