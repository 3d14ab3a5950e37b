#include "support/naive_cron.hpp"

#include <fmt/core.h>

#include <chrono>

namespace ksana::testing {
namespace {

using schedule::DstPolicy;
using schedule::FoldPolicy;
using schedule::GapPolicy;
using schedule::Zone;
using schedule::ZoneSegment;

constexpr std::array<int, 6> kLow = {0, 0, 0, 1, 1, 0};
constexpr std::array<int, 6> kHigh = {59, 59, 23, 31, 12, 6};
constexpr std::array<const char*, 7> kNames = {"SUN", "Mon", "tue", "WED", "THU", "FRI", "SAT"};
constexpr std::array<const char*, 12> kMonths = {"JAN", "feb", "MAR", "APR", "MAY", "JUN",
                                                 "JUL", "AUG", "Sep", "OCT", "NOV", "DEC"};

int Between(Random& random, int low, int high) {
    return low + static_cast<int>(random.Below(static_cast<std::uint64_t>(high - low + 1)));
}

std::string ValueText(Random& random, std::size_t field, int value) {
    if (field == 5 && random.Below(3) == 0) return kNames.at(static_cast<std::size_t>(value));
    if (field == 5 && value == 0 && random.Below(2) == 0) return "7";
    if (field == 4 && random.Below(3) == 0) return kMonths.at(static_cast<std::size_t>(value - 1));
    return fmt::format("{}", value);
}

// Returns the text of one random list item, and marks its values in `values`.
std::string MakeItem(Random& random, std::size_t field, std::vector<bool>& values) {
    const int low = kLow.at(field);
    const int high = kHigh.at(field);
    const auto mark = [&values](int from, int to, int step) {
        for (int v = from; v <= to; v += step) values.at(static_cast<std::size_t>(v)) = true;
    };
    switch (random.Below(4)) {
        case 0: {
            const int from = Between(random, low, high);
            const int to = Between(random, from, high);
            const int step = Between(random, 1, 5);
            mark(from, to, step);
            return step == 1 && random.Below(2) == 0 ? fmt::format("{}-{}", from, to)
                                                     : fmt::format("{}-{}/{}", from, to, step);
        }
        case 1: {
            const int from = Between(random, low, high);
            const int step = Between(random, 2, high - low + 1);
            mark(from, high, step);
            return fmt::format("{}/{}", from, step);
        }
        default: {
            const int value = Between(random, low, high);
            mark(value, value, 1);
            return ValueText(random, field, value);
        }
    }
}

std::string MakeField(Random& random, NaiveCron& cron, std::size_t field, unsigned star_percent) {
    std::vector<bool>& values = cron.fields.at(field);
    values.assign(61, false);
    if (random.Below(100) < star_percent) {
        // Steps in the day fields leave few days near the tested instant, so they are rare.
        const std::uint64_t plain_percent = field >= 3 ? 85 : 50;
        const int size = kHigh.at(field) - kLow.at(field) + 1;
        const int step = random.Below(100) < plain_percent ? 1 : Between(random, 2, size);
        for (int v = kLow.at(field); v <= kHigh.at(field); v += step) {
            values.at(static_cast<std::size_t>(v)) = true;
        }
        std::string text = step == 1 ? "*" : fmt::format("*/{}", step);
        if (random.Below(8) == 0) text += "," + MakeItem(random, field, values);
        return text;
    }
    std::string text = MakeItem(random, field, values);
    while (random.Below(3) == 0) text += "," + MakeItem(random, field, values);
    return text;
}

std::string MakeSpecialDay(Random& random, NaiveCron& cron) {
    cron.fields[3].assign(61, false);
    switch (random.Below(4)) {
        case 0:
            cron.days_before_last.push_back(0);
            return "L";
        case 1: {
            const int back = Between(random, 0, 30);
            cron.days_before_last.push_back(back);
            return fmt::format("L-{}", back);
        }
        case 2:
            cron.last_working_day = true;
            return "LW";
        default: {
            const int day = Between(random, 1, 31);
            cron.nearest.push_back(day);
            return fmt::format("{}W", day);
        }
    }
}

std::string MakeSpecialWeekday(Random& random, NaiveCron& cron) {
    cron.fields[5].assign(61, false);
    const int day = Between(random, 0, 6);
    if (random.Below(2) == 0) {
        cron.last_weekdays.push_back(day);
        return fmt::format("{}L", day);
    }
    const int nth = Between(random, 1, 5);
    cron.nth_weekdays.emplace_back(day, nth);
    return fmt::format("{}#{}", ValueText(random, 5, day), nth);
}

struct Local {
    int year;
    int month;
    int day;
    int length;  // number of days in the month
    int weekday;
    int hour;
    int second;
};

Local BreakDown(std::int64_t local) {
    using namespace std::chrono;
    const sys_seconds t{seconds(local)};
    const auto midnight = floor<days>(t);
    const year_month_day date{midnight};
    const hh_mm_ss time{t - midnight};
    const year_month_day_last last{date.year() / date.month() / std::chrono::last};
    return {static_cast<int>(date.year()),
            static_cast<int>(static_cast<unsigned>(date.month())),
            static_cast<int>(static_cast<unsigned>(date.day())),
            static_cast<int>(static_cast<unsigned>(last.day())),
            static_cast<int>(weekday{midnight}.c_encoding()),
            static_cast<int>(time.hours().count()),
            static_cast<int>(time.seconds().count())};
}

bool IsWorkday(int weekday) { return weekday >= 1 && weekday <= 5; }

bool MatchesDayOfMonth(const NaiveCron& cron, const Local& t) {
    if (cron.fields[3].at(static_cast<std::size_t>(t.day))) return true;
    for (const int back : cron.days_before_last) {
        if (t.day == t.length - back) return true;
    }
    const auto weekday_of = [&t](int day) { return ((t.weekday + day - t.day) % 7 + 7) % 7; };
    if (cron.last_working_day) {
        int day = t.length;
        while (!IsWorkday(weekday_of(day))) --day;
        if (t.day == day) return true;
    }
    for (const int wanted : cron.nearest) {
        if (wanted > t.length) continue;
        // Searches outwards from the wanted day. Ties cannot occur for W.
        for (const int away : {0, -1, 1, -2, 2}) {
            const int day = wanted + away;
            if (day < 1 || day > t.length || !IsWorkday(weekday_of(day))) continue;
            if (t.day == day) return true;
            break;
        }
    }
    return false;
}

bool MatchesDayOfWeek(const NaiveCron& cron, const Local& t) {
    if (cron.fields[5].at(static_cast<std::size_t>(t.weekday))) return true;
    for (const int day : cron.last_weekdays) {
        if (t.weekday == day && t.day + 7 > t.length) return true;
    }
    for (const auto& [day, nth] : cron.nth_weekdays) {
        if (t.weekday == day && (t.day - 1) / 7 + 1 == nth) return true;
    }
    return false;
}

// Returns whether another instant with the same local time exists, later than `utc` (direction 1)
// or earlier (-1).
bool OtherPass(const Zone& zone, std::int64_t utc, int direction) {
    const std::int64_t local = utc + zone.OffsetAt(utc);
    // Clocks go back by at most a day, in whole minutes.
    for (std::int64_t away = 60; away <= 25 * 3600; away += 60) {
        const std::int64_t other = utc + direction * away;
        if (other + zone.OffsetAt(other) == local) return true;
    }
    return false;
}

bool GapMatches(const NaiveCron& cron, std::int64_t local_before, std::int64_t local_after,
                std::int64_t step) {
    for (std::int64_t local = local_before + step; local < local_after; local += step) {
        if (Matches(cron, local)) return true;
    }
    return false;
}

}  // namespace

NaiveCron MakeRandomCron(Random& random) {
    NaiveCron cron;
    cron.has_seconds = random.Below(8) == 0;
    cron.fields[0].assign(61, false);
    cron.fields[0].at(0) = !cron.has_seconds;
    std::string second = cron.has_seconds ? MakeField(random, cron, 0, 30) + " " : "";
    const std::string minute = MakeField(random, cron, 1, 30);
    const std::string hour = MakeField(random, cron, 2, 30);
    std::string day =
        random.Below(8) == 0 ? MakeSpecialDay(random, cron) : MakeField(random, cron, 3, 75);
    const std::string month = MakeField(random, cron, 4, 90);
    std::string weekday =
        random.Below(8) == 0 ? MakeSpecialWeekday(random, cron) : MakeField(random, cron, 5, 75);
    if (day == "*" && random.Below(4) == 0) day = "?";
    cron.fixed_time = minute[0] != '*' && hour[0] != '*';
    const auto star = [](const std::string& field) { return field[0] == '*' || field[0] == '?'; };
    cron.both_restricted = !star(day) && !star(weekday);
    cron.day_match_and = random.Below(4) == 0;
    cron.text = second + minute + " " + hour + " " + day + " " + month + " " + weekday;
    return cron;
}

bool Matches(const NaiveCron& cron, std::int64_t local) {
    // Checks the minute first: most instants fail it, and it needs no calendar.
    const auto minute = static_cast<std::size_t>(((local % 3600 + 3600) % 3600) / 60);
    if (!cron.fields[1][minute]) return false;
    const Local t = BreakDown(local);
    if (!cron.fields[0].at(static_cast<std::size_t>(t.second)) ||
        !cron.fields[2].at(static_cast<std::size_t>(t.hour)) ||
        !cron.fields[4].at(static_cast<std::size_t>(t.month))) {
        return false;
    }
    const bool by_day = MatchesDayOfMonth(cron, t);
    const bool by_weekday = MatchesDayOfWeek(cron, t);
    return cron.both_restricted && !cron.day_match_and ? by_day || by_weekday
                                                       : by_day && by_weekday;
}

std::optional<std::int64_t> NaiveNext(const NaiveCron& cron, const Zone& zone, DstPolicy policy,
                                      std::int64_t after, std::int64_t until) {
    const std::int64_t step = cron.has_seconds ? 1 : 60;
    const std::int64_t remainder = ((after % step) + step) % step;
    ZoneSegment segment = zone.Segment(zone.IndexAt(after - remainder));
    for (std::int64_t utc = after - remainder + step; utc <= until; utc += step) {
        const std::int64_t before_local = utc - step + segment.offset;
        if (utc >= segment.end) segment = zone.Segment(zone.IndexAt(utc));
        const std::int64_t local = utc + segment.offset;
        if (cron.fixed_time && policy.gap == GapPolicy::kRunAfter && local > before_local + step &&
            GapMatches(cron, before_local, local, step)) {
            return utc;
        }
        if (!Matches(cron, local)) continue;
        if (!cron.fixed_time || policy.fold == FoldPolicy::kBoth) return utc;
        const bool wrong_pass =
            policy.fold == FoldPolicy::kFirst ? OtherPass(zone, utc, -1) : OtherPass(zone, utc, 1);
        if (!wrong_pass) return utc;
    }
    return std::nullopt;
}

}  // namespace ksana::testing
