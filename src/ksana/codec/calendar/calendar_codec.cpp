#include "ksana/codec/calendar/calendar_codec.hpp"

#include <fmt/core.h>

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "ksana/schedule/zone/date_text.hpp"

namespace ksana::codec {
namespace {

namespace json = boost::json;
using schedule::Calendar;
using schedule::CalendarRule;
using schedule::FormatDate;
using schedule::ParseDate;
using schedule::SwapDay;

constexpr std::array<std::string_view, 7> kWeekdays = {"SUN", "MON", "TUE", "WED",
                                                       "THU", "FRI", "SAT"};

// Reads digits with fixed separators, such as "12-25" with widths {2,2} and '-'.
template <std::size_t N>
bool ReadNumbers(std::string_view text, const std::array<int, N>& widths, char separator,
                 std::array<int, N>& out) {
    for (std::size_t i = 0; i < N; ++i) {
        if (i > 0) {
            if (!text.starts_with(separator)) return false;
            text.remove_prefix(1);
        }
        const auto width = static_cast<std::size_t>(widths[i]);
        if (text.size() < width) return false;
        out[i] = 0;
        for (const char c : text.substr(0, width)) {
            if (c < '0' || c > '9') return false;
            out[i] = out[i] * 10 + (c - '0');
        }
        text.remove_prefix(width);
    }
    return text.empty();
}

void ReadDates(ObjectReader& rule, CalendarRule& out) {
    const auto node = rule.Find("dates");
    if (!node) return;
    std::string text;
    rule.reader().Read(*node, text);
    const std::size_t slash = text.find('/');
    const auto first = ParseDate(std::string_view(text).substr(0, slash));
    const auto last =
        slash == std::string::npos ? first : ParseDate(std::string_view(text).substr(slash + 1));
    if (first && last) {
        out.dates = CalendarRule::DateSpan{*first, *last};
    } else {
        rule.reader().Fault(rule.path() + "/dates",
                            "is neither a date (2026-10-01) nor two with a slash between them");
    }
}

void ReadYearly(ObjectReader& rule, CalendarRule& out) {
    const auto node = rule.Find("yearly");
    if (!node) return;
    std::string text;
    rule.reader().Read(*node, text);
    std::array<int, 2> parts{};
    if (ReadNumbers<2>(text, {2, 2}, '-', parts)) {
        out.yearly = CalendarRule::MonthDay{parts[0], parts[1]};
    } else {
        rule.reader().Fault(rule.path() + "/yearly", "is no day of the year such as 12-25");
    }
}

std::optional<int> ReadTimeOfDay(ObjectReader& rule, std::string_view key) {
    const auto node = rule.Find(key);
    if (!node) return std::nullopt;
    std::string text;
    rule.reader().Read(*node, text);
    std::array<int, 2> parts{};
    if (ReadNumbers<2>(text, {2, 2}, ':', parts) && parts[1] < 60 &&
        parts[0] * 60 + parts[1] <= 24 * 60) {
        return (parts[0] * 60 + parts[1]) * 60;
    }
    rule.reader().Fault(rule.path() + "/" + std::string(key), "is no time of day such as 22:00");
    return std::nullopt;
}

std::optional<int> WeekdayOf(JsonReader& reader, const std::string& path, const std::string& name) {
    for (std::size_t i = 0; i < kWeekdays.size(); ++i) {
        if (kWeekdays.at(i) == name) return static_cast<int>(i);
    }
    reader.FaultUnknownName(path, name, kWeekdays);
    return std::nullopt;
}

void ReadWeekdays(ObjectReader& rule, CalendarRule& out) {
    std::vector<std::string> names;
    rule.Optional("weekdays", names);
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto day =
            WeekdayOf(rule.reader(), fmt::format("{}/weekdays/{}", rule.path(), i), names[i]);
        if (day)
            out.weekdays =
                static_cast<std::uint8_t>(out.weekdays | 1U << static_cast<unsigned>(*day));
    }
}

void ReadRule(JsonReader& reader, const Node& node, CalendarRule& out) {
    ObjectReader rule(reader, node);
    ReadDates(rule, out);
    ReadYearly(rule, out);
    ReadWeekdays(rule, out);
    const auto from = ReadTimeOfDay(rule, "from");
    const auto to = ReadTimeOfDay(rule, "to");
    if (from && to) {
        out.times = CalendarRule::TimeSpan{*from, *to};
    } else if (from.has_value() != to.has_value()) {
        reader.Fault(node.path, "from and to go together");
    }
    rule.Finish();
}

void ReadSwap(JsonReader& reader, const Node& node, SwapDay& out) {
    ObjectReader swap(reader, node);
    std::string date;
    std::string weekday;
    swap.Required("date", date);
    swap.Required("counts_as", weekday);
    if (!date.empty()) {
        if (const auto parsed = ParseDate(date)) {
            out.date = *parsed;
        } else {
            reader.Fault(node.path + "/date", "is no date such as 2026-10-10");
        }
    }
    if (!weekday.empty()) {
        out.counts_as =
            WeekdayOf(reader, node.path + "/counts_as", weekday).value_or(out.counts_as);
    }
    swap.Finish();
}

}  // namespace

void ReadCalendar(JsonReader& reader, const Node& node, Calendar& calendar) {
    ObjectReader object(reader, node);
    object.Required("name", calendar.name);
    object.Optional("description", calendar.description);
    const auto read_rule = [&reader](const Node& item, CalendarRule& rule) {
        ReadRule(reader, item, rule);
    };
    if (const auto part = object.Find("exclude"))
        reader.ReadEach(*part, calendar.exclude, read_rule);
    if (const auto part = object.Find("include"))
        reader.ReadEach(*part, calendar.include, read_rule);
    if (const auto part = object.Find("swaps")) {
        reader.ReadEach(*part, calendar.swaps, [&reader](const Node& item, SwapDay& swap) {
            ReadSwap(reader, item, swap);
        });
    }
    object.Finish();
}

json::value CalendarRuleValue(const CalendarRule& rule) {
    json::object object;
    if (rule.dates) {
        object["dates"] = rule.dates->first == rule.dates->last
                              ? FormatDate(rule.dates->first)
                              : FormatDate(rule.dates->first) + "/" + FormatDate(rule.dates->last);
    }
    if (rule.yearly) {
        object["yearly"] = fmt::format("{:02}-{:02}", rule.yearly->month, rule.yearly->day);
    }
    if (rule.weekdays != 0) {
        json::array days;
        for (std::size_t i = 0; i < kWeekdays.size(); ++i) {
            if ((rule.weekdays >> i & 1U) != 0) days.emplace_back(std::string(kWeekdays.at(i)));
        }
        object["weekdays"] = std::move(days);
    }
    if (rule.times) {
        const auto text = [](int second) {
            return fmt::format("{:02}:{:02}", second / 3600, second / 60 % 60);
        };
        object["from"] = text(rule.times->from);
        object["to"] = text(rule.times->to);
    }
    return object;
}

json::value CalendarValue(const Calendar& calendar) {
    const auto rules = [](const std::vector<CalendarRule>& list) {
        json::array array;
        for (const CalendarRule& rule : list) array.push_back(CalendarRuleValue(rule));
        return array;
    };
    json::array swaps;
    for (const SwapDay& swap : calendar.swaps) {
        swaps.emplace_back(json::object{
            {"date", FormatDate(swap.date)},
            {"counts_as", std::string(kWeekdays.at(static_cast<std::size_t>(swap.counts_as)))}});
    }
    return json::object{{"name", calendar.name},
                        {"description", calendar.description},
                        {"exclude", rules(calendar.exclude)},
                        {"include", rules(calendar.include)},
                        {"swaps", std::move(swaps)}};
}

}  // namespace ksana::codec
