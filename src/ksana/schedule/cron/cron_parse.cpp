#include "ksana/schedule/cron/cron_parse.hpp"

#include <fmt/core.h>

#include <bit>
#include <vector>

#include "ksana/base/text/names.hpp"
#include "ksana/base/text/utf8.hpp"

namespace ksana::schedule {
namespace {

constexpr std::size_t kMaxExcerpt = 40;

std::string RangeText(CronField field, CronDialect dialect) {
    const CronFieldRange& range = kCronFields.at(static_cast<std::size_t>(field));
    const bool library_weekday = field == CronField::kWeekday && dialect == CronDialect::kLibrary;
    return fmt::format("{}-{}", range.low, library_weekday ? 6 : range.high);
}

std::string UnknownMacro(std::string_view word) {
    std::vector<std::string_view> names;
    for (const internal::Macro& macro : internal::kMacros) names.push_back(macro.name);
    if (internal::EqualIgnoringCase(word, "@reboot")) {
        return "@reboot is not a schedule; trigger the job when your program starts";
    }
    if (internal::EqualIgnoringCase(word, "@every")) {
        return "@every is no cron expression; use a schedule of kind \"every\"";
    }
    const auto meant = Nearest(word, names);
    return fmt::format("unknown word {}{}", Excerpt(word, kMaxExcerpt),
                       meant ? fmt::format("; did you mean {}?", *meant)
                             : "; known are @yearly, @monthly, @weekly, @daily and @hourly");
}

std::string BadForm(CronField field) {
    if (field == CronField::kDay) {
        return "not a form of this field; special days are L, L-3, LW and 15W";
    }
    if (field == CronField::kWeekday) {
        return "not a form of this field; special weekdays are 5L (the last Friday) and 5#2 (the "
               "second)";
    }
    return "L, W, # and ? are for the day fields only";
}

std::string Reason(std::string_view text, const CronFault& fault, CronDialect dialect) {
    using Kind = CronFault::Kind;
    const std::string_view raw = text.substr(fault.position, fault.length);
    const std::string what = Excerpt(raw, kMaxExcerpt);
    switch (fault.kind) {
        case Kind::kNone:
            return "";
        case Kind::kEmpty:
            return "the expression is empty";
        case Kind::kTooLong:
            return fmt::format("the expression is longer than {} characters", kMaxCronLength);
        case Kind::kTooFewFields:
            return dialect == CronDialect::kLibrary
                       ? "too few fields; there are 5: minute hour day month weekday"
                       : "too few fields; there are 5 (minute hour day month weekday), or 6 with "
                         "seconds in front";
        case Kind::kTooManyFields:
            return dialect == CronDialect::kLibrary
                       ? "too many fields; the library dialect has 5, without seconds or year"
                       : "too many fields; there are 5, or 6 with seconds in front; there is no "
                         "year";
        case Kind::kUnknownMacro:
            return UnknownMacro(raw);
        case Kind::kBadCharacter:
            return fmt::format("\"{}\" does not belong here", what);
        case Kind::kEmptyItem:
            return "a value is missing beside the comma";
        case Kind::kNumberExpected:
            return "a number is expected here";
        case Kind::kUnknownName:
            if (fault.field == CronField::kMonth) {
                return fmt::format("\"{}\" is no month; use 1-12 or JAN-DEC", what);
            }
            if (fault.field == CronField::kWeekday) {
                return fmt::format("\"{}\" is no weekday; use 0-7 or SUN-SAT", what);
            }
            return fmt::format("\"{}\" is no number; this field has no names", what);
        case Kind::kOutOfRange:
            return fmt::format("{} is out of range {}", what, RangeText(fault.field, dialect));
        case Kind::kReversed:
            return fmt::format("the range {} runs backwards", what);
        case Kind::kBadStep:
            return fmt::format("the step {} is not between 1 and the size of the field", what);
        case Kind::kBadOffset:
            return fmt::format("L-{}: a day is at most 30 days before the last", what);
        case Kind::kBadNth:
            return fmt::format("#{}: a weekday comes 1 to 5 times in a month", what);
        case Kind::kBadForm:
            return BadForm(fault.field);
        case Kind::kNotInDialect:
            return fmt::format(
                "\"{}\" is not in the library dialect, which has *, values, lists, "
                "ranges and steps",
                what);
    }
    return "";
}

std::string Describe(std::string_view text, const CronFault& fault, CronDialect dialect) {
    std::string reason = Reason(text, fault, dialect);
    if (fault.field == CronField::kWhole) return reason;
    return fmt::format("{}: {}", kCronFields.at(static_cast<std::size_t>(fault.field)).name,
                       reason);
}

// Returns "1,5-7" for a mask; three or more consecutive values become a range.
std::string MaskText(std::uint64_t mask) {
    std::string text;
    for (int low = 0; low < 64; ++low) {
        if ((mask >> static_cast<unsigned>(low) & 1U) == 0) continue;
        int high = low;
        while (high < 63 && (mask >> static_cast<unsigned>(high + 1) & 1U) != 0) ++high;
        if (high < low + 2) high = low;
        if (!text.empty()) text += ',';
        text += high > low ? fmt::format("{}-{}", low, high) : fmt::format("{}", low);
        low = high;
    }
    return text;
}

std::uint64_t FullMask(CronField field) {
    const CronFieldRange& range = kCronFields.at(static_cast<std::size_t>(field));
    const int high = field == CronField::kWeekday ? 6 : range.high;
    std::uint64_t mask = 0;
    for (int value = range.low; value <= high; ++value)
        mask |= std::uint64_t{1} << static_cast<unsigned>(value);
    return mask;
}

// A star field that is not plain * must have been */n, alone or with further items. Finds n by
// trial; values that the steps do not cover follow as a list.
std::string StarText(std::uint64_t mask, CronField field) {
    if (mask == FullMask(field)) return "*";
    const CronFieldRange& range = kCronFields.at(static_cast<std::size_t>(field));
    const int high = field == CronField::kWeekday ? 6 : range.high;
    for (int step = 2; step <= high - range.low + 1; ++step) {
        std::uint64_t steps = 0;
        for (int value = range.low; value <= high; value += step) {
            steps |= std::uint64_t{1} << static_cast<unsigned>(value);
        }
        if ((steps & ~mask) != 0) continue;
        const std::uint64_t rest = mask & ~steps;
        return fmt::format("*/{}{}{}", step, rest != 0 ? "," : "", MaskText(rest));
    }
    return MaskText(mask);
}

std::string FieldText(std::uint64_t mask, bool star, CronField field) {
    if (star) return StarText(mask, field);
    // Seconds and months have no star flag: write * if they are unrestricted.
    const bool flagged = field != CronField::kSecond && field != CronField::kMonth;
    if (!flagged && mask == FullMask(field)) return "*";
    return MaskText(mask);
}

void Append(std::string& list, const std::string& item) {
    if (!list.empty()) list += ',';
    list += item;
}

std::string DayText(const CronSpec& spec) {
    std::string text = FieldText(spec.days, spec.day_star, CronField::kDay);
    for (std::uint32_t left = spec.days_before_last; left != 0; left &= left - 1) {
        const int back = std::countr_zero(left);
        Append(text, back == 0 ? "L" : fmt::format("L-{}", back));
    }
    for (std::uint32_t left = spec.nearest_weekdays; left != 0; left &= left - 1) {
        Append(text, fmt::format("{}W", std::countr_zero(left)));
    }
    if (spec.last_weekday) Append(text, "LW");
    return text;
}

std::string WeekdayText(const CronSpec& spec) {
    std::string text = FieldText(spec.weekdays, spec.weekday_star, CronField::kWeekday);
    for (int weekday = 0; weekday < 7; ++weekday) {
        const auto has = [weekday](std::uint8_t mask) {
            return (mask >> static_cast<unsigned>(weekday) & 1U) != 0;
        };
        if (has(spec.last_weekdays)) Append(text, fmt::format("{}L", weekday));
        for (std::size_t n = 0; n < spec.nth_weekdays.size(); ++n) {
            if (has(spec.nth_weekdays.at(n))) Append(text, fmt::format("{}#{}", weekday, n + 1));
        }
    }
    return text;
}

}  // namespace

Result<CronSpec> ParseCron(std::string_view text, const CronSyntax& syntax) {
    const CronParsed parsed = ParseCronText(text, syntax);
    if (parsed.fault.kind == CronFault::Kind::kNone) return parsed.spec;
    return Error(Code::kInvalidArgument, Describe(text, parsed.fault, syntax.dialect));
}

std::string DescribeCronFault(std::string_view text, const CronFault& fault, CronDialect dialect) {
    return Describe(text, fault, dialect);
}

std::string FormatCron(const CronSpec& spec) {
    std::string text;
    if (spec.has_seconds) text = FieldText(spec.seconds, false, CronField::kSecond) + " ";
    text += FieldText(spec.minutes, spec.minute_star, CronField::kMinute) + " ";
    text += FieldText(spec.hours, spec.hour_star, CronField::kHour) + " ";
    text += DayText(spec) + " ";
    text += FieldText(spec.months, false, CronField::kMonth) + " ";
    return text + WeekdayText(spec);
}

}  // namespace ksana::schedule
