#include "ksana/schedule/local_time.hpp"

#include <fmt/core.h>

#include <array>

#include "ksana/schedule/zone/civil.hpp"

namespace ksana::schedule {
namespace {

std::string Fraction(Duration part) {
    if (part == Duration::zero()) return "";
    std::string text = fmt::format(".{:06}", part.count());
    text.erase(text.find_last_not_of('0') + 1);
    return text;
}

}  // namespace

std::string LocalTimeText(const Zone& zone, TimePoint instant) {
    static constexpr std::array<const char*, 7> kDays = {"Sun", "Mon", "Tue", "Wed",
                                                         "Thu", "Fri", "Sat"};
    const auto whole = std::chrono::floor<std::chrono::seconds>(instant);
    const std::int64_t utc = whole.time_since_epoch().count();
    const std::int64_t local = utc + zone.OffsetAt(utc);
    const std::int64_t day = FloorDiv(local, kSecondsPerDay);
    const Date date = DateOf(day);
    const auto second = static_cast<int>(local - day * kSecondsPerDay);
    return fmt::format("{} {:04}-{:02}-{:02} {:02}:{:02}:{:02}{} {}",
                       kDays.at(static_cast<std::size_t>(WeekdayOf(day))), date.year, date.month,
                       date.day, second / 3600, second / 60 % 60, second % 60,
                       Fraction(instant - whole), zone.AbbreviationAt(utc));
}

std::string_view DstNoteText(DstNote note) {
    switch (note) {
        case DstNote::kNone:
            return "";
        case DstNote::kAfterGap:
            return "moved: clocks skip its time that day";
        case DstNote::kFirstPass:
            return "first pass: clocks are put back later";
        case DstNote::kSecondPass:
            return "second pass: clocks were put back";
    }
    return "";
}

}  // namespace ksana::schedule
