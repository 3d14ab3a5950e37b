#include "ksana/schedule/every.hpp"

#include <algorithm>
#include <utility>

#include "ksana/base/error/check.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/schedule/zone/civil.hpp"

namespace ksana::schedule {
namespace {

// How long a calendar may block every fire, beyond the dates that it names, before the schedule
// counts as ended. In kShortHorizon a short interval meets every hour of every kind of day; a long
// one needs the whole calendar cycle. Stretches end at midnight at the latest, so this also bounds
// the search.
constexpr std::chrono::days kShortHorizon{366 * 50};
constexpr std::chrono::days kLongHorizon{146'097};

std::int64_t Micros(Duration d) { return d.count(); }

TimePoint DayAsTime(std::int64_t day_number) {
    return TimePoint(std::chrono::seconds(day_number * kSecondsPerDay));
}

}  // namespace

EveryGrid::EveryGrid(TimePoint start, Duration every, std::shared_ptr<const CalendarIndex> calendar,
                     std::shared_ptr<const Zone> zone)
    : start_(start), every_(every), calendar_(std::move(calendar)), zone_(std::move(zone)) {
    KSANA_CHECK(every_ > Duration::zero(), "a grid needs a positive interval");
    if (zone_ == nullptr) zone_ = Zone::Utc();
}

std::optional<TimePoint> EveryGrid::GridAfter(TimePoint after) const {
    if (after < start_) return start_;
    const std::int64_t n = Micros(after - start_) / Micros(every_) + 1;
    if (n > Micros(MaxTime() - start_) / Micros(every_)) return std::nullopt;
    return start_ + n * every_;
}

std::optional<TimePoint> EveryGrid::GridBefore(TimePoint before) const {
    if (before <= start_) return std::nullopt;
    return start_ + (Micros(before - start_) - 1) / Micros(every_) * every_;
}

std::int64_t EveryGrid::GridCount(TimePoint after, TimePoint until) const {
    if (until <= after || until < start_) return 0;
    const auto up_to = [this](TimePoint t) {
        return t < start_ ? 0 : Micros(t - start_) / Micros(every_) + 1;
    };
    return up_to(until) - up_to(after);
}

EveryGrid::Stretch EveryGrid::StretchAt(TimePoint instant) const {
    const std::int64_t utc =
        std::chrono::floor<std::chrono::seconds>(instant).time_since_epoch().count();
    const ZoneSegment segment = zone_->Segment(zone_->IndexAt(utc));
    const std::int64_t local = utc + segment.offset;
    const std::int64_t begin = calendar_->EdgeBefore(local);
    const std::int64_t end = calendar_->NextEdge(local);
    const auto at = [](std::int64_t second) { return TimePoint(std::chrono::seconds(second)); };
    return {calendar_->Allows(local), at(std::max(begin - segment.offset, segment.begin)),
            at(std::min(end - segment.offset, segment.end))};
}

// Returns the first grid point in (after, until] that the calendar allows, or blocks if !allowed.
std::optional<TimePoint> EveryGrid::Find(TimePoint after, TimePoint until, bool allowed) const {
    std::optional<TimePoint> point = GridAfter(after);
    while (point && *point <= until) {
        const Stretch stretch = StretchAt(*point);
        if (stretch.allowed == allowed) return point;
        point = GridAfter(stretch.end - Duration(1));
    }
    return std::nullopt;
}

// Returns the last grid point in [from, before) that the calendar allows, or blocks if !allowed.
std::optional<TimePoint> EveryGrid::FindBack(TimePoint before, TimePoint from, bool allowed) const {
    std::optional<TimePoint> point = GridBefore(before);
    while (point && *point >= from) {
        const Stretch stretch = StretchAt(*point);
        if (stretch.allowed == allowed) return point;
        point = GridBefore(stretch.begin);
    }
    return std::nullopt;
}

Duration EveryGrid::Horizon() const {
    return every_ < std::chrono::days(1) ? kShortHorizon : kLongHorizon;
}

std::optional<TimePoint> EveryGrid::Next(TimePoint after) const {
    if (calendar_ == nullptr) return GridAfter(after);
    TimePoint from = std::max(after, start_);
    if (calendar_->last_dated_day() >= calendar_->first_dated_day()) {
        from = std::max(from, DayAsTime(calendar_->last_dated_day() + 2));
    }
    return Find(after, from + Horizon(), true);
}

std::optional<TimePoint> EveryGrid::Previous(TimePoint before) const {
    if (calendar_ == nullptr) return GridBefore(before);
    TimePoint from = before;
    if (calendar_->last_dated_day() >= calendar_->first_dated_day()) {
        from = std::min(from, DayAsTime(calendar_->first_dated_day() - 1));
    }
    return FindBack(before, from - Horizon(), true);
}

std::int64_t EveryGrid::Count(TimePoint after, TimePoint until) const {
    if (calendar_ == nullptr) return GridCount(after, until);
    return GridCount(after, until) - CountBlocked(after, until);
}

std::int64_t EveryGrid::CountBlocked(TimePoint after, TimePoint until) const {
    if (calendar_ == nullptr) return 0;
    std::int64_t count = 0;
    std::optional<TimePoint> point = GridAfter(after);
    while (point && *point <= until) {
        const Stretch stretch = StretchAt(*point);
        const TimePoint last = std::min(stretch.end - Duration(1), until);
        if (!stretch.allowed) count += GridCount(*point - Duration(1), last);
        point = GridAfter(last);
        if (last == until) break;
    }
    return count;
}

std::optional<TimePoint> EveryGrid::NextBlocked(TimePoint after, TimePoint until) const {
    if (calendar_ == nullptr) return std::nullopt;
    return Find(after, until, false);
}

std::optional<TimePoint> EveryGrid::PreviousBlocked(TimePoint before, TimePoint from) const {
    if (calendar_ == nullptr) return std::nullopt;
    return FindBack(before, from, false);
}

}  // namespace ksana::schedule
