#include "ksana/schedule/calendar/calendar.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "ksana/base/text/names.hpp"
#include "ksana/base/text/utf8.hpp"

namespace ksana::schedule {
namespace {

void CheckRule(const CalendarRule& rule, const std::string& path, std::vector<Problem>& problems) {
    const bool empty = !rule.dates && !rule.yearly && rule.weekdays == 0 && !rule.times;
    if (empty) {
        problems.push_back({path, "says nothing: give dates, yearly, weekdays or from and to"});
    }
    if (rule.dates) {
        if (!rule.dates->first.IsValid() || !rule.dates->last.IsValid()) {
            problems.push_back({path + "/dates", "there is no such date"});
        } else if (rule.dates->last < rule.dates->first) {
            problems.push_back({path + "/dates", "ends before it starts"});
        }
    }
    // 2024 is a leap year, so 02-29 is valid.
    if (rule.yearly && !Date{2024, rule.yearly->month, rule.yearly->day}.IsValid()) {
        problems.push_back({path + "/yearly", "there is no such day in any year"});
    }
    if (rule.weekdays > 0x7F) {
        problems.push_back({path + "/weekdays", "has a bit beyond Saturday"});
    }
    if (rule.times) {
        const auto in_day = [](int second) { return second >= 0 && second <= kSecondsPerDay; };
        if (!in_day(rule.times->from) || !in_day(rule.times->to)) {
            problems.push_back({path + "/from", "times of day lie between 00:00 and 24:00"});
        } else if (rule.times->from == rule.times->to) {
            problems.push_back({path + "/to", "is the same as from: the span is empty"});
        }
    }
}

void CheckRules(const std::vector<CalendarRule>& rules, std::string_view list,
                std::vector<Problem>& problems) {
    for (std::size_t i = 0; i < rules.size(); ++i) {
        CheckRule(rules[i], fmt::format("/{}/{}", list, i), problems);
    }
}

void CheckName(const Calendar& calendar, std::vector<Problem>& problems) {
    if (!IsIdentifier(calendar.name)) {
        problems.push_back({"/name", fmt::format("is {}", kIdentifierRule)});
    }
    if (calendar.description.size() > 4'000 || !IsUtf8(calendar.description) ||
        calendar.description.find('\0') != std::string::npos) {
        problems.push_back({"/description", "is UTF-8 of at most 4000 bytes, without NUL"});
    }
}

void CheckCount(std::size_t count, std::size_t most, std::string_view what,
                std::vector<Problem>& problems) {
    if (count > most) {
        problems.push_back({"", fmt::format("has {} rules {}; {} are allowed", count, what, most)});
    }
}

}  // namespace

bool IsWide(const CalendarRule& rule) {
    if (!rule.dates || rule.times || rule.yearly || rule.weekdays != 0) return true;
    return rule.dates->last.DayNumber() - rule.dates->first.DayNumber() > kMaxNarrowDays;
}

std::vector<Problem> ValidateCalendar(const Calendar& calendar) {
    std::vector<Problem> problems;
    const std::size_t total =
        calendar.exclude.size() + calendar.include.size() + calendar.swaps.size();
    if (total > kMaxCalendarRules) {
        problems.push_back(
            {"", fmt::format("has {} rules; {} are allowed", total, kMaxCalendarRules)});
        return problems;
    }
    std::size_t wide = 0;
    std::size_t timed = 0;
    for (const auto* rules : {&calendar.exclude, &calendar.include}) {
        for (const CalendarRule& rule : *rules) {
            wide += IsWide(rule) ? 1 : 0;
            timed += rule.times ? 1 : 0;
        }
    }
    CheckCount(wide, kMaxCalendarWideRules, "that recur or span years", problems);
    CheckCount(timed, kMaxCalendarTimeRules, "with a time of day", problems);
    CheckName(calendar, problems);
    CheckRules(calendar.exclude, "exclude", problems);
    CheckRules(calendar.include, "include", problems);
    std::set<Date> seen;
    for (std::size_t i = 0; i < calendar.swaps.size(); ++i) {
        const SwapDay& swap = calendar.swaps[i];
        const std::string path = fmt::format("/swaps/{}", i);
        if (!swap.date.IsValid()) problems.push_back({path + "/date", "there is no such date"});
        if (swap.counts_as < 0 || swap.counts_as > 6) {
            problems.push_back({path + "/counts_as", "is no weekday"});
        }
        if (!seen.insert(swap.date).second) {
            problems.push_back({path + "/date", "is swapped twice"});
        }
    }
    return problems;
}

}  // namespace ksana::schedule
