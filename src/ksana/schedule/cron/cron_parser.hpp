#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "ksana/schedule/cron/cron_spec.hpp"
#include "ksana/schedule/cron/cron_syntax.hpp"
#include "ksana/schedule/cron/cron_words.hpp"

// The cron parser, all of it constexpr: the same code runs at compile time (CronLiteral) and at run
// time (ParseCron). Both are in cron_parse.hpp.

namespace ksana::schedule {

namespace internal {

// Parses one expression. Stops at the first fault.
class CronParser {
  public:
    constexpr CronParser(std::string_view text, CronSyntax syntax) : text_(text), syntax_(syntax) {
        spec_.dialect = syntax.dialect;
        spec_.day_match = IsLibrary() ? DayMatch::kAnd : syntax.day_match;
    }

    constexpr CronParsed Run() {
        if (text_.size() > kMaxCronLength) {
            Fail(CronFault::Kind::kTooLong, 0, text_.size());
        } else {
            ParseWhole();
        }
        return {fault_.kind == CronFault::Kind::kNone ? spec_ : CronSpec{}, fault_};
    }

  private:
    using Kind = CronFault::Kind;

    struct Span {
        std::size_t begin = 0;
        std::size_t end = 0;
    };

    // A number or a name.
    struct Operand {
        int value = 0;
        bool ok = false;
    };

    constexpr bool IsLibrary() const { return syntax_.dialect == CronDialect::kLibrary; }
    constexpr bool Failed() const { return fault_.kind != Kind::kNone; }

    constexpr void Fail(Kind kind, std::size_t position, std::size_t length) {
        if (Failed()) return;
        fault_ = {kind, field_, static_cast<std::uint32_t>(position),
                  static_cast<std::uint32_t>(length)};
    }
    constexpr void Fail(Kind kind, Span span) { Fail(kind, span.begin, span.end - span.begin); }

    constexpr void ParseWhole() {
        std::array<Span, 8> fields{};
        const std::size_t count = Split(fields);
        if (count == 0) return Fail(Kind::kEmpty, 0, text_.size());
        if (text_[fields[0].begin] == '@') return ParseMacro(fields[0], count);
        const std::size_t most = IsLibrary() ? 5 : 6;
        if (count < 5) return Fail(Kind::kTooFewFields, 0, text_.size());
        if (count > most) {
            return Fail(Kind::kTooManyFields, fields[most].begin,
                        text_.size() - fields[most].begin);
        }
        spec_.has_seconds = count == 6;
        if (count == 6) spec_.seconds = 0;
        const std::size_t skip = count == 6 ? 0 : 1;
        for (std::size_t i = 0; i < count && !Failed(); ++i) {
            field_ = static_cast<CronField>(i + skip);
            ParseField(fields[i]);
        }
    }

    // Stops at 8 fields, which is a fault whatever follows.
    constexpr std::size_t Split(std::array<Span, 8>& fields) const {
        std::size_t count = 0;
        std::size_t i = 0;
        while (i < text_.size() && count < fields.size()) {
            while (i < text_.size() && IsBlank(text_[i])) ++i;
            if (i == text_.size()) break;
            fields[count].begin = i;
            while (i < text_.size() && !IsBlank(text_[i])) ++i;
            fields[count++].end = i;
        }
        return count;
    }

    constexpr void ParseMacro(Span word, std::size_t fields) {
        if (IsLibrary()) return Fail(Kind::kNotInDialect, word);
        const std::string_view name = text_.substr(word.begin, word.end - word.begin);
        for (const Macro& macro : kMacros) {
            if (fields != 1 || !EqualIgnoringCase(macro.name, name)) continue;
            spec_ = CronParser(macro.meaning, syntax_).Run().spec;
            return;
        }
        Fail(Kind::kUnknownMacro, word);
    }

    constexpr void ParseField(Span field) {
        const bool star = text_[field.begin] == '*' || text_[field.begin] == '?';
        if (star) SetStar();
        std::size_t begin = field.begin;
        for (std::size_t i = field.begin; i <= field.end && !Failed(); ++i) {
            if (i < field.end && text_[i] != ',') continue;
            if (i == begin) return Fail(Kind::kEmptyItem, i, i == field.end ? 0 : 1);
            ParseItem({begin, i});
            begin = i + 1;
        }
    }

    constexpr void SetStar() {
        if (field_ == CronField::kMinute) spec_.minute_star = true;
        if (field_ == CronField::kHour) spec_.hour_star = true;
        if (field_ == CronField::kDay) spec_.day_star = true;
        if (field_ == CronField::kWeekday) spec_.weekday_star = true;
    }

    // A value, *, ? or range, with an optional step; or one of the special day forms.
    constexpr void ParseItem(Span item) {
        const char first = text_[item.begin];
        if (first == '?') return ParseQuestion(item);
        if (!IsLibrary() && ParseSpecial(item)) return;
        if (Failed()) return;

        std::size_t at = item.begin;
        int low = Low();
        int high = High();
        bool range = true;
        if (first == '*') {
            ++at;
            if (field_ == CronField::kWeekday) high = 6;  // 7 is only another name for 0
        } else {
            const Operand from = ParseOperand(at, item.end);
            if (!from.ok) return;
            low = from.value;
            range = at < item.end && text_[at] == '-';
            high = low;
            if (range) {
                ++at;
                const Operand to = ParseOperand(at, item.end);
                if (!to.ok) return;
                high = RangeEnd(low, to.value);
                if (high < low) return Fail(Kind::kReversed, item);
            }
        }
        const int step = ParseStep(at, item, range, low, high);
        if (Failed()) return;
        if (at != item.end) return Fail(Unexpected(at), at, item.end - at);
        for (int value = low; value <= high; value += step) SetValue(value);
    }

    constexpr void ParseQuestion(Span item) {
        if (IsLibrary()) return Fail(Kind::kNotInDialect, item);
        const bool day_field = field_ == CronField::kDay || field_ == CronField::kWeekday;
        if (!day_field || item.end - item.begin != 1) return Fail(Kind::kBadForm, item);
        for (int value = Low(); value <= High(); ++value) SetValue(value);
    }

    // FRI-SUN ends on the Sunday after the Friday; SUN-SUN is one day.
    constexpr int RangeEnd(int low, int value) const {
        return sunday_by_name_ && low > 0 ? 7 : value;
    }

    constexpr int Low() const { return kCronFields[static_cast<std::size_t>(field_)].low; }
    constexpr int High() const {
        const int high = kCronFields[static_cast<std::size_t>(field_)].high;
        return IsLibrary() && field_ == CronField::kWeekday ? 6 : high;
    }

    // Classifies an unexpected character: a special form in the wrong place, or garbage.
    constexpr Kind Unexpected(std::size_t at) const {
        const char c = Upper(text_[at]);
        if (c == 'L' || c == 'W' || c == '#' || c == '?') {
            return IsLibrary() ? Kind::kNotInDialect : Kind::kBadForm;
        }
        return Kind::kBadCharacter;
    }

    constexpr Operand ParseOperand(std::size_t& at, std::size_t end) {
        if (at < end && IsLetter(text_[at])) return ParseName(at, end);
        sunday_by_name_ = false;
        const std::size_t begin = at;
        const int value = ParseNumber(at, end);
        if (Failed()) return {};
        if (value < Low() || value > High()) {
            Fail(Kind::kOutOfRange, begin, at - begin);
            return {};
        }
        return {value, true};
    }

    constexpr Operand ParseName(std::size_t& at, std::size_t end) {
        const std::size_t begin = at;
        while (at < end && IsLetter(text_[at])) ++at;
        const std::string_view word = text_.substr(begin, at - begin);
        int value = -1;
        if (field_ == CronField::kMonth) value = FindName(kMonthNames, word) + 1;
        if (field_ == CronField::kWeekday) value = FindName(kWeekdayNames, word);
        const bool found = field_ == CronField::kMonth ? value > 0 : value >= 0;
        if (IsLibrary()) {
            Fail(Kind::kNotInDialect, begin, word.size());
        } else if (!found) {
            Fail(Kind::kUnknownName, begin, word.size());
        }
        if (Failed()) return {};
        sunday_by_name_ = field_ == CronField::kWeekday && value == 0;
        return {value, true};
    }

    constexpr int ParseNumber(std::size_t& at, std::size_t end) {
        const std::size_t begin = at;
        int value = 0;
        while (at < end && IsDigit(text_[at])) {
            // Stops accumulating once out of range, so that it cannot overflow.
            if (value < 100'000) value = value * 10 + (text_[at] - '0');
            ++at;
        }
        if (at == begin) {
            if (at == end) {
                Fail(Kind::kNumberExpected, at, 0);
            } else {
                Fail(Unexpected(at) == Kind::kBadCharacter ? Kind::kNumberExpected : Unexpected(at),
                     at, 1);
            }
        }
        return value;
    }

    // Parses an optional "/n". After a single value it means "from there to the end" (5/15).
    constexpr int ParseStep(std::size_t& at, Span item, bool range, int& low, int& high) {
        if (at == item.end || text_[at] != '/') return 1;
        ++at;
        const std::size_t begin = at;
        const int step = ParseNumber(at, item.end);
        if (Failed()) return 1;
        const int top = field_ == CronField::kWeekday ? 6 : High();
        if (step < 1 || step > top - Low() + 1) {
            Fail(Kind::kBadStep, begin, at - begin);
            return 1;
        }
        if (!range) {
            if (IsLibrary()) Fail(Kind::kNotInDialect, item);
            if (low > top) low = 0;  // 7/2 starts on Sunday, like 0/2
            high = top;
        }
        return step;
    }

    // Parses L, L-n, LW, nW in the day of month; wL, w#n in the day of week. Returns true if the
    // item was one of them, whether valid or not.
    constexpr bool ParseSpecial(Span item) {
        if (field_ == CronField::kDay) return ParseSpecialDay(item);
        if (field_ == CronField::kWeekday) return ParseSpecialWeekday(item);
        return false;
    }

    constexpr bool ParseSpecialDay(Span item) {
        const std::size_t size = item.end - item.begin;
        const char first = Upper(text_[item.begin]);
        const char last = Upper(text_[item.end - 1]);
        if (first == 'L') {
            if (size == 1) {
                spec_.days_before_last |= 1U;
            } else if (size == 2 && last == 'W') {
                spec_.last_weekday = true;
            } else if (text_[item.begin + 1] == '-') {
                std::size_t at = item.begin + 2;
                const int back = ParseNumber(at, item.end);
                if (Failed()) return true;
                if (at != item.end) {
                    Fail(Unexpected(at), at, item.end - at);
                } else if (back > 30) {
                    Fail(Kind::kBadOffset, item.begin + 2, at - item.begin - 2);
                } else {
                    spec_.days_before_last |= 1U << static_cast<unsigned>(back);
                }
            } else {
                Fail(Kind::kBadForm, item);
            }
            return true;
        }
        if (last != 'W') return false;
        std::size_t at = item.begin;
        const Operand day = ParseOperand(at, item.end);
        if (!day.ok) return true;
        if (at + 1 != item.end) {
            Fail(Kind::kBadForm, item);
        } else {
            spec_.nearest_weekdays |= 1U << static_cast<unsigned>(day.value);
        }
        return true;
    }

    constexpr bool ParseSpecialWeekday(Span item) {
        std::size_t hash = item.begin;
        while (hash < item.end && text_[hash] != '#') ++hash;
        const bool last = Upper(text_[item.end - 1]) == 'L' && hash == item.end;
        if (hash == item.end && !last) return false;
        const std::size_t day_end = last ? item.end - 1 : hash;
        if (day_end == item.begin) {
            Fail(Kind::kBadForm, item);
            return true;
        }
        std::size_t at = item.begin;
        const Operand day = ParseOperand(at, day_end);
        if (!day.ok) return true;
        if (at != day_end) {
            Fail(Kind::kBadForm, item);
            return true;
        }
        const auto bit = static_cast<std::uint8_t>(1U << static_cast<unsigned>(day.value % 7));
        if (last) {
            spec_.last_weekdays |= bit;
            return true;
        }
        at = hash + 1;
        const int nth = ParseNumber(at, item.end);
        if (Failed()) return true;
        if (at != item.end) {
            Fail(Kind::kBadForm, item);
        } else if (nth < 1 || nth > 5) {
            Fail(Kind::kBadNth, hash + 1, at - hash - 1);
        } else {
            spec_.nth_weekdays[static_cast<std::size_t>(nth - 1)] |= bit;
        }
        return true;
    }

    constexpr void SetValue(int value) {
        const auto bit = static_cast<unsigned>(value);
        switch (field_) {
            case CronField::kSecond:
                spec_.seconds |= std::uint64_t{1} << bit;
                break;
            case CronField::kMinute:
                spec_.minutes |= std::uint64_t{1} << bit;
                break;
            case CronField::kHour:
                spec_.hours |= 1U << bit;
                break;
            case CronField::kDay:
                spec_.days |= 1U << bit;
                break;
            case CronField::kMonth:
                spec_.months |= 1U << bit;
                break;
            case CronField::kWeekday:
                spec_.weekdays = static_cast<std::uint8_t>(spec_.weekdays | 1U << (bit % 7));
                break;
            case CronField::kWhole:
                break;
        }
    }

    std::string_view text_;
    CronSyntax syntax_;
    CronSpec spec_{};
    CronFault fault_{};
    CronField field_ = CronField::kWhole;
    bool sunday_by_name_ = false;  // the last operand was SUN
};

}  // namespace internal

constexpr CronParsed ParseCronText(std::string_view text, CronSyntax syntax) {
    return internal::CronParser(text, syntax).Run();
}

}  // namespace ksana::schedule
