#include "ksana/insight/preview/calendar_rule.hpp"

#include <fmt/core.h>

#include <array>

#include "ksana/schedule/calendar/calendar_index.hpp"
#include "ksana/schedule/zone/date_text.hpp"

namespace ksana::insight {
namespace {

using schedule::Calendar;
using schedule::CalendarIndex;
using schedule::CalendarRule;
using schedule::FormatDate;

constexpr std::array<const char*, 7> kWeekdays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                  "Thursday", "Friday", "Saturday"};

std::string TimeText(int second) {
    const std::string text = fmt::format("{:02}:{:02}", second / 3600, second / 60 % 60);
    return second % 60 == 0 ? text : fmt::format("{}:{:02}", text, second % 60);
}

std::string WeekdaysText(unsigned mask) {
    std::string text;
    for (std::size_t i = 1; i <= 7; ++i) {  // Sunday last
        const std::size_t day = i % 7;
        if ((mask >> day & 1U) == 0) continue;
        text += text.empty() ? "every " : ", ";
        text += kWeekdays.at(day);
    }
    return text;
}

void Add(std::string& text, const std::string& part) {
    if (!text.empty()) text += ", ";
    text += part;
}

}  // namespace

std::string DescribeRule(const CalendarRule& rule) {
    std::string text;
    if (rule.dates) {
        const bool one = rule.dates->first == rule.dates->last;
        Add(text, one ? FormatDate(rule.dates->first)
                      : fmt::format("{} to {}", FormatDate(rule.dates->first),
                                    FormatDate(rule.dates->last)));
    }
    if (rule.yearly) {
        Add(text, fmt::format("every year on {:02}-{:02}", rule.yearly->month, rule.yearly->day));
    }
    if ((rule.weekdays & 0x7FU) != 0) Add(text, WeekdaysText(rule.weekdays));
    if (rule.times) {
        Add(text,
            fmt::format("from {} to {}", TimeText(rule.times->from), TimeText(rule.times->to)));
    }
    return text.empty() ? "always" : text;
}

// Tests each rule as a calendar of its own, so that swapped days and spans past midnight are
// evaluated by CalendarIndex only.
std::string ExcludingRule(const Calendar& calendar, const schedule::Zone& zone, TimePoint at) {
    const std::int64_t utc =
        std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
    const std::int64_t local = utc + zone.OffsetAt(utc);
    if (CalendarIndex(calendar).Allows(local)) return "";
    for (const CalendarRule& rule : calendar.exclude) {
        Calendar one;
        one.exclude.push_back(rule);
        one.swaps = calendar.swaps;
        if (!CalendarIndex(one).Allows(local)) return DescribeRule(rule);
    }
    return "";
}

}  // namespace ksana::insight
