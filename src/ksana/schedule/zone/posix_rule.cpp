#include "ksana/schedule/zone/posix_rule.hpp"

#include "ksana/schedule/zone/civil.hpp"

namespace ksana::schedule {
namespace {

bool IsLetter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

// Reads from the front of a text. After a failed read ok() is false and stays false.
class RuleReader {
  public:
    explicit RuleReader(std::string_view text) : text_(text) {}

    bool ok() const { return ok_; }
    bool AtEnd() const { return text_.empty(); }

    bool Accept(char c) {
        if (!ok_ || !text_.starts_with(c)) return false;
        text_.remove_prefix(1);
        return true;
    }
    void Expect(char c) { ok_ = Accept(c) && ok_; }

    int Number(int low, int high) {
        int value = 0;
        std::size_t digits = 0;
        while (digits < text_.size() && digits < 4 && text_[digits] >= '0' &&
               text_[digits] <= '9') {
            value = value * 10 + (text_[digits] - '0');
            ++digits;
        }
        text_.remove_prefix(digits);
        ok_ = ok_ && digits > 0 && value >= low && value <= high;
        return value;
    }

    // EST, or <+03> if the name has signs or digits.
    std::string Abbreviation() {
        const bool quoted = Accept('<');
        std::size_t size = 0;
        while (size < text_.size() && (quoted ? text_[size] != '>' : IsLetter(text_[size]))) ++size;
        std::string name(text_.substr(0, size));
        text_.remove_prefix(size);
        if (quoted) Expect('>');
        ok_ = ok_ && name.size() >= 3 && name.size() <= 30;
        return name;
    }

    // Reads [+-]hh[:mm[:ss]] and returns seconds.
    int Time(int max_hours) {
        const bool negative = Accept('-');
        if (!negative) Accept('+');
        int total = Number(0, max_hours) * 3600;
        if (Accept(':')) {
            total += Number(0, 59) * 60;
            if (Accept(':')) total += Number(0, 59);
        }
        return negative ? -total : total;
    }

    RuleDate DateRule() {
        RuleDate date;
        if (Accept('M')) {
            date.month = Number(1, 12);
            Expect('.');
            date.week = Number(1, 5);
            Expect('.');
            date.day = Number(0, 6);
        } else if (Accept('J')) {
            date.form = RuleDate::Form::kJulianNoLeap;
            date.day = Number(1, 365);
        } else {
            date.form = RuleDate::Form::kDayOfYear;
            date.day = Number(0, 365);
        }
        if (Accept('/')) date.time = Time(167);
        return date;
    }

  private:
    std::string_view text_;
    bool ok_ = true;
};

}  // namespace

std::int64_t RuleDate::LocalSecond(int year) const {
    const std::int64_t new_year = FirstOfMonth(year, 1);
    std::int64_t day_number = 0;
    switch (form) {
        case Form::kMonthWeekDay: {
            const std::int64_t first = FirstOfMonth(year, month);
            int in_month = 1 + (day - WeekdayOf(first) + 7) % 7 + (week - 1) * 7;
            if (in_month > DaysInMonth(year, month)) in_month -= 7;
            day_number = first + in_month - 1;
            break;
        }
        case Form::kJulianNoLeap:
            day_number = new_year + day - 1 + (day >= 60 && IsLeapYear(year) ? 1 : 0);
            break;
        case Form::kDayOfYear:
            day_number = new_year + day;
            break;
    }
    return day_number * kSecondsPerDay + time;
}

std::optional<PosixRule> PosixRule::Parse(std::string_view text) {
    RuleReader reader(text);
    PosixRule rule;
    rule.standard.abbreviation = reader.Abbreviation();
    // POSIX offsets are positive west of UTC.
    rule.standard.offset = -reader.Time(24);
    if (reader.ok() && !reader.AtEnd()) {
        Summer summer;
        summer.kind.abbreviation = reader.Abbreviation();
        summer.kind.offset = rule.standard.offset + 3600;
        if (!reader.Accept(',')) {
            summer.kind.offset = -reader.Time(24);
            reader.Expect(',');
        }
        summer.start = reader.DateRule();
        reader.Expect(',');
        summer.end = reader.DateRule();
        rule.summer = std::move(summer);
    }
    if (!reader.ok() || !reader.AtEnd()) return std::nullopt;
    return rule;
}

}  // namespace ksana::schedule
