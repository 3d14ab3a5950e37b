#include "ksana/schedule/describe.hpp"

#include <fmt/core.h>

#include <array>
#include <bit>
#include <functional>
#include <vector>

#include "ksana/base/time/time_text.hpp"
#include "ksana/schedule/cron/cron_parse.hpp"

namespace ksana::schedule {
namespace {

constexpr std::array<std::string_view, 7> kWeekdays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                       "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 13> kMonths = {
    "",     "January", "February",  "March",   "April",    "May",     "June",
    "July", "August",  "September", "October", "November", "December"};
constexpr std::array<std::string_view, 5> kOrdinals = {"first", "second", "third", "fourth",
                                                       "fifth"};
// Up to this many times of day are listed; more are described by their fields.
constexpr int kMaxListedTimes = 6;

std::string Join(const std::vector<std::string>& items, std::string_view last) {
    std::string text;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i > 0) text += i + 1 == items.size() ? fmt::format(" {} ", last) : ", ";
        text += items[i];
    }
    return text;
}

// Returns the values of a mask in words; three or more consecutive ones become "a through b".
std::string Values(std::uint64_t mask, const std::function<std::string(int)>& name) {
    std::vector<std::string> items;
    for (int low = 0; low < 64; ++low) {
        if ((mask >> static_cast<unsigned>(low) & 1U) == 0) continue;
        int high = low;
        while (high < 63 && (mask >> static_cast<unsigned>(high + 1) & 1U) != 0) ++high;
        if (high < low + 2) high = low;
        items.push_back(high > low ? fmt::format("{} through {}", name(low), name(high))
                                   : name(low));
        low = high;
    }
    return Join(items, "and");
}

std::string Number(int value) { return fmt::format("{}", value); }
std::string Weekday(int value) {
    return std::string(kWeekdays.at(static_cast<std::size_t>(value)));
}
std::string Month(int value) { return std::string(kMonths.at(static_cast<std::size_t>(value))); }

// Returns n if the mask is 0, n, 2n … up to `size` and n divides `size`; else 0.
int StepOf(std::uint64_t mask, int size) {
    const int step = size / std::max(std::popcount(mask), 1);
    if (step < 2 || size % step != 0) return 0;
    std::uint64_t steps = 0;
    for (int value = 0; value < size; value += step)
        steps |= std::uint64_t{1} << static_cast<unsigned>(value);
    return steps == mask ? step : 0;
}

bool IsRun(std::uint64_t mask) {
    const int low = std::countr_zero(mask);
    return std::popcount(mask) > 1 &&
           mask == ((std::uint64_t{1} << static_cast<unsigned>(std::popcount(mask))) - 1)
                       << static_cast<unsigned>(low);
}

std::string Unit(std::uint64_t mask, int size, std::string_view unit) {
    if (std::popcount(mask) == size) return fmt::format("every {}", unit);
    if (const int step = StepOf(mask, size); step > 0)
        return fmt::format("every {} {}s", step, unit);
    return "";
}

bool HasOneSecond(const CronSpec& spec) { return std::popcount(spec.seconds) == 1; }

std::string ListedTimes(const CronSpec& spec) {
    std::vector<std::string> times;
    const int second = std::countr_zero(spec.seconds);
    for (std::uint64_t hours = spec.hours; hours != 0; hours &= hours - 1) {
        for (std::uint64_t minutes = spec.minutes; minutes != 0; minutes &= minutes - 1) {
            std::string time =
                fmt::format("{:02}:{:02}", std::countr_zero(hours), std::countr_zero(minutes));
            if (second != 0) time += fmt::format(":{:02}", second);
            times.push_back(std::move(time));
        }
    }
    return "at " + Join(times, "and");
}

std::string HoursPart(const CronSpec& spec) {
    if (std::popcount(spec.hours) == 24) return "";
    if (const int step = StepOf(spec.hours, 24); step > 0) {
        return fmt::format(", in every {}{} hour of the day", step,
                           step == 2 ? "nd" : (step == 3 ? "rd" : "th"));
    }
    const int low = std::countr_zero(spec.hours);
    const int high = 31 - std::countl_zero(spec.hours);
    if (IsRun(spec.hours) || low == high) {
        return fmt::format(" from {:02}:00 through {:02}:59", low, high);
    }
    return " in the hours " +
           Values(spec.hours, [](int hour) { return fmt::format("{:02}", hour); });
}

std::string TimePart(const CronSpec& spec) {
    const int times = std::popcount(spec.hours) * std::popcount(spec.minutes);
    if (HasOneSecond(spec) && times <= kMaxListedTimes) return ListedTimes(spec);

    const std::string seconds = Unit(spec.seconds, 60, "second");
    std::string text;
    if (!HasOneSecond(spec)) {
        text = seconds.empty() ? "at seconds " + Values(spec.seconds, Number) : seconds;
        if (std::popcount(spec.minutes) == 60) return text + HoursPart(spec);
        text += " of ";
    } else if (spec.seconds != 1) {
        text = fmt::format("at second {} of ", std::countr_zero(spec.seconds));
    }
    const bool hourly = spec.minutes == 1 && text.empty();
    if (hourly) {
        if (std::popcount(spec.hours) == 24) return "every hour";
        if (const int step = StepOf(spec.hours, 24); step > 0) {
            return fmt::format("every {} hours", step);
        }
        if (IsRun(spec.hours)) {
            return fmt::format("every hour from {:02}:00 through {:02}:00",
                               std::countr_zero(spec.hours), 31 - std::countl_zero(spec.hours));
        }
    }
    const std::string minutes = Unit(spec.minutes, 60, "minute");
    if (!minutes.empty()) return text + minutes + HoursPart(spec);
    const bool one = std::popcount(spec.minutes) == 1;
    text += fmt::format("{}minute{} {}", text.empty() ? "at " : "", one ? "" : "s",
                        Values(spec.minutes, Number));
    return std::popcount(spec.hours) == 24 ? text + " of every hour" : text + HoursPart(spec);
}

std::string DayPart(const CronSpec& spec) {
    std::vector<std::string> parts;
    if (spec.days != 0) {
        const bool one = std::popcount(spec.days) == 1;
        parts.push_back(
            fmt::format("on day{} {} of the month", one ? "" : "s", Values(spec.days, Number)));
    }
    for (std::uint32_t left = spec.days_before_last; left != 0; left &= left - 1) {
        const int back = std::countr_zero(left);
        parts.push_back(back == 0 ? "on the last day of the month"
                                  : fmt::format("{} day{} before the last day of the month", back,
                                                back == 1 ? "" : "s"));
    }
    for (std::uint32_t left = spec.nearest_weekdays; left != 0; left &= left - 1) {
        parts.push_back(fmt::format("on the working day nearest to day {} of the month",
                                    std::countr_zero(left)));
    }
    if (spec.last_weekday) parts.emplace_back("on the last working day of the month");
    return Join(parts, "and");
}

std::string WeekdayPart(const CronSpec& spec) {
    std::vector<std::string> parts;
    if (spec.weekdays != 0) {
        // Sunday reads better after Saturday.
        const bool with_sunday = (spec.weekdays & 1U) != 0 && (spec.weekdays & 0x40U) != 0;
        const std::uint64_t mask = with_sunday ? (spec.weekdays & 0x7EU) | 0x80U : spec.weekdays;
        parts.push_back("on " + Values(mask, [](int day) { return Weekday(day % 7); }));
    }
    for (int day = 0; day < 7; ++day) {
        for (std::size_t n = 0; n < spec.nth_weekdays.size(); ++n) {
            if ((spec.nth_weekdays.at(n) >> static_cast<unsigned>(day) & 1U) != 0) {
                parts.push_back(
                    fmt::format("on the {} {} of the month", kOrdinals.at(n), Weekday(day)));
            }
        }
        if ((spec.last_weekdays >> static_cast<unsigned>(day) & 1U) != 0) {
            parts.push_back(fmt::format("on the last {} of the month", Weekday(day)));
        }
    }
    return Join(parts, "and");
}

std::string DatePart(const CronSpec& spec) {
    const bool all_days = spec.days == 0xFFFFFFFEU && !spec.HasSpecialDays();
    const bool all_weekdays = spec.weekdays == 0x7F && !spec.HasSpecialWeekdays();
    const bool either = spec.day_match == DayMatch::kOr && !spec.day_star && !spec.weekday_star;
    if (either) return fmt::format(" {}, or {}", DayPart(spec), WeekdayPart(spec));
    if (all_days && all_weekdays) return "";
    if (all_weekdays) return " " + DayPart(spec);
    if (all_days) return " " + WeekdayPart(spec);
    return fmt::format(" {}, and only {}", DayPart(spec), WeekdayPart(spec));
}

std::string AfterPart(const ScheduleSpec& spec) {
    static constexpr std::array<std::string_view, 3> kEnds = {"succeeded", "failed", "ended"};
    const std::string_view ended = kEnds.at(static_cast<std::size_t>(spec.on));
    const bool one = spec.jobs.size() == 1;
    if (one) return fmt::format("After each run of {} that {}", spec.jobs.front(), ended);
    return spec.join == AfterJoin::kEach
               ? fmt::format("After each run of {} that {}", Join(spec.jobs, "or"), ended)
               : fmt::format("After runs of {} have all {}", Join(spec.jobs, "and"), ended);
}

}  // namespace

std::string DescribeCron(const CronSpec& spec) {
    std::string text = TimePart(spec) + DatePart(spec);
    if (std::popcount(spec.months) != 12) text += ", in " + Values(spec.months, Month);
    if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text + ".";
}

std::string DescribeSchedule(const ScheduleSpec& spec) {
    std::string text;
    switch (spec.kind) {
        case ScheduleKind::kAfter:
            text = AfterPart(spec);
            if (spec.start_at) text += fmt::format(", not before {}", FormatTime(*spec.start_at));
            break;
        case ScheduleKind::kOnce:
            return fmt::format("Once, at {}.", FormatTime(spec.run_at));
        case ScheduleKind::kEvery:
            text = fmt::format("Every {}", FormatDuration(spec.every));
            if (spec.start_at) text += fmt::format(", counted from {}", FormatTime(*spec.start_at));
            break;
        case ScheduleKind::kCron: {
            const auto cron = ParseCron(spec.cron, {spec.dialect, spec.day_match});
            text = cron ? DescribeCron(*cron) : "An invalid expression.";
            text.pop_back();
            if (spec.zone != "UTC") text += fmt::format(", {} time", spec.zone);
            if (spec.start_at) text += fmt::format(", not before {}", FormatTime(*spec.start_at));
            break;
        }
    }
    if (spec.end_at) text += fmt::format(", until {}", FormatTime(*spec.end_at));
    if (spec.jitter > Duration::zero()) {
        text += fmt::format(", spread over {}", FormatDuration(spec.jitter));
    }
    if (!spec.calendar.empty())
        text += fmt::format(", except where calendar {} says so", spec.calendar);
    return text + ".";
}

}  // namespace ksana::schedule
