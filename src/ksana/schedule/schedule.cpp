#include "ksana/schedule/schedule.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/ids/hash.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/schedule/cron/cron_parse.hpp"

namespace ksana::schedule {
namespace {

using std::chrono::seconds;

std::int64_t FloorSecond(TimePoint t) {
    return std::chrono::floor<seconds>(t).time_since_epoch().count();
}
std::int64_t CeilSecond(TimePoint t) {
    return std::chrono::ceil<seconds>(t).time_since_epoch().count();
}
TimePoint FromSecond(std::int64_t second) { return TimePoint(seconds(second)); }

std::optional<TimePoint> FromSecond(std::optional<std::int64_t> second) {
    return second ? std::optional(FromSecond(*second)) : std::nullopt;
}

// Visitors that give the engines a common interface. Cron engines count in whole seconds: (after,
// until] in microseconds is [floor(after)+1, floor(until)+1) in seconds.
struct NextFire {
    TimePoint after;
    std::optional<TimePoint> operator()(TimePoint once) const {
        return once > after ? std::optional(once) : std::nullopt;
    }
    std::optional<TimePoint> operator()(const EveryGrid& grid) const { return grid.Next(after); }
    template <class Other>
    std::optional<TimePoint> operator()(const Other&) const {
        return std::nullopt;
    }
    template <class Pair>
    requires requires(const Pair& pair) { pair.allowed; }
    std::optional<TimePoint> operator()(const Pair& cron) const {
        return FromSecond(cron.allowed.Next(FloorSecond(after)));
    }
};

struct PreviousFire {
    TimePoint before;
    std::optional<TimePoint> operator()(TimePoint once) const {
        return once < before ? std::optional(once) : std::nullopt;
    }
    std::optional<TimePoint> operator()(const EveryGrid& grid) const {
        return grid.Previous(before);
    }
    template <class Other>
    std::optional<TimePoint> operator()(const Other&) const {
        return std::nullopt;
    }
    template <class Pair>
    requires requires(const Pair& pair) { pair.allowed; }
    std::optional<TimePoint> operator()(const Pair& cron) const {
        return FromSecond(cron.allowed.Previous(CeilSecond(before)));
    }
};

struct CountFires {
    TimePoint after;
    TimePoint until;
    std::int64_t operator()(TimePoint once) const { return once > after && once <= until ? 1 : 0; }
    std::int64_t operator()(const EveryGrid& grid) const { return grid.Count(after, until); }
    template <class Other>
    std::int64_t operator()(const Other&) const {
        return 0;
    }
    template <class Pair>
    requires requires(const Pair& pair) { pair.allowed; }
    std::int64_t operator()(const Pair& cron) const {
        return cron.allowed.Count(FloorSecond(after) + 1, FloorSecond(until) + 1);
    }
};

void CheckBounds(const ScheduleSpec& spec, std::vector<Problem>& problems) {
    const auto in_range = [](TimePoint t) { return t >= MinTime() && t <= MaxTime(); };
    if (spec.kind == ScheduleKind::kOnce && !in_range(spec.run_at)) {
        problems.push_back({"/run_at", "lies outside the years 0000 to 9999"});
    }
    if (spec.start_at && !in_range(*spec.start_at)) {
        problems.push_back({"/start_at", "lies outside the years 0000 to 9999"});
    }
    if (spec.end_at && !in_range(*spec.end_at)) {
        problems.push_back({"/end_at", "lies outside the years 0000 to 9999"});
    }
    if (spec.start_at && spec.end_at && *spec.end_at < *spec.start_at) {
        problems.push_back({"/end_at", "is before start_at"});
    }
    if (spec.jitter < Duration::zero() || spec.jitter > kMaxJitter) {
        problems.push_back({"/jitter", "must lie between 0s and 24h"});
    }
}

void CheckEvery(const ScheduleSpec& spec, std::vector<Problem>& problems) {
    if (spec.every < std::chrono::milliseconds(1)) {
        problems.push_back({"/every", "must be at least 1ms"});
    } else if (spec.every > std::chrono::hours(24) * 3660) {
        problems.push_back({"/every", "must be at most 87840h (ten years)"});
    }
    if (spec.jitter >= spec.every && spec.every > Duration::zero()) {
        problems.push_back({"/jitter", "must be shorter than every"});
    }
}

void CheckAfter(const ScheduleSpec& spec, std::vector<Problem>& problems) {
    if (spec.jobs.empty()) problems.push_back({"/jobs", "must name at least one job"});
}

void CheckDialect(const ScheduleSpec& spec, std::vector<Problem>& problems) {
    if (spec.dialect != CronDialect::kLibrary) return;
    if (spec.zone != "UTC") problems.push_back({"/zone", "the library dialect is always in UTC"});
}

}  // namespace

Result<Schedule> Schedule::Compile(const ScheduleSpec& spec, const ScheduleContext& context) {
    std::vector<Problem> problems;
    CheckBounds(spec, problems);
    auto zone = context.zones.Find(spec.zone);
    if (!zone) problems.push_back({"/zone", zone.error().message});
    std::shared_ptr<const CalendarIndex> calendar;
    if (!spec.calendar.empty()) {
        if (context.find_calendar) calendar = context.find_calendar(spec.calendar);
        if (spec.kind == ScheduleKind::kOnce || spec.kind == ScheduleKind::kAfter) {
            problems.push_back(
                {"/calendar", fmt::format("has no meaning for a schedule of kind \"{}\"",
                                          spec.kind == ScheduleKind::kOnce ? "once" : "after")});
        } else if (calendar == nullptr) {
            problems.push_back({"/calendar", fmt::format("there is no calendar \"{}\"",
                                                         Excerpt(spec.calendar, 80))});
        }
    }
    std::optional<CronSpec> cron;
    if (spec.kind == ScheduleKind::kEvery) CheckEvery(spec, problems);
    if (spec.kind == ScheduleKind::kAfter) CheckAfter(spec, problems);
    if (spec.kind == ScheduleKind::kCron) {
        CheckDialect(spec, problems);
        auto parsed = ParseCron(spec.cron, {spec.dialect, spec.day_match});
        if (parsed) {
            cron = *parsed;
        } else {
            problems.push_back({"/cron", parsed.error().message});
        }
    }
    if (!problems.empty()) return Error(std::move(problems));

    auto engine = [&]() -> Engine {
        switch (spec.kind) {
            case ScheduleKind::kOnce:
                return spec.run_at;
            case ScheduleKind::kEvery:
                return EveryGrid(spec.start_at.value_or(context.created_at), spec.every, calendar,
                                 *zone);
            case ScheduleKind::kAfter:
                return NoTimes{};
            case ScheduleKind::kCron:
                break;
        }
        using Side = CronPattern::Side;
        return CronPair{ZonedCron(CronPattern(*cron, calendar, Side::kAllowed), *zone, spec.dst),
                        ZonedCron(CronPattern(*cron, calendar, Side::kBlocked), *zone, spec.dst)};
    }();
    return Schedule(std::make_shared<const ScheduleSpec>(spec),
                    std::make_shared<const Engine>(std::move(engine)));
}

TimePoint Schedule::First() const { return spec_->start_at.value_or(MinTime()); }
TimePoint Schedule::Last() const { return spec_->end_at.value_or(MaxTime()); }

std::optional<TimePoint> Schedule::Next(TimePoint after) const {
    const TimePoint from = std::max(after, First() - Duration(1));
    const auto fire = std::visit(NextFire{from}, *engine_);
    return fire && *fire <= Last() ? fire : std::nullopt;
}

std::optional<TimePoint> Schedule::Previous(TimePoint before) const {
    const TimePoint from = std::min(before, Last() + Duration(1));
    const auto fire = std::visit(PreviousFire{from}, *engine_);
    return fire && *fire >= First() ? fire : std::nullopt;
}

std::int64_t Schedule::Count(TimePoint after, TimePoint until) const {
    const TimePoint from = std::max(after, First() - Duration(1));
    const TimePoint to = std::min(until, Last());
    return to <= from ? 0 : std::visit(CountFires{from, to}, *engine_);
}

std::vector<TimePoint> Schedule::Fires(TimePoint after, TimePoint until, std::size_t max) const {
    std::vector<TimePoint> fires;
    auto next = Next(after);
    while (next && *next <= until && fires.size() < max) {
        fires.push_back(*next);
        next = Next(*next);
    }
    return fires;
}

std::optional<TimePoint> Schedule::NextInDialect(TimePoint after) const {
    const auto next = Next(after);
    const bool short_sighted =
        spec_->kind == ScheduleKind::kCron && spec_->dialect == CronDialect::kLibrary;
    if (next && short_sighted && *next - after > std::chrono::days(kLibraryHorizonDays)) {
        return std::nullopt;
    }
    return next;
}

bool Schedule::EverFires() const { return !HasTimes() || Next(First() - Duration(1)).has_value(); }

FireRange Schedule::Blocked(TimePoint after, TimePoint until) const {
    const TimePoint from = std::max(after, First() - Duration(1));
    const TimePoint to = std::min(until, Last());
    FireRange range;
    if (to <= from) return range;
    if (const auto* grid = std::get_if<EveryGrid>(engine_.get())) {
        range.count = grid->CountBlocked(from, to);
        if (range.count == 0) return range;
        range.first = grid->NextBlocked(from, to).value_or(from);
        range.last = grid->PreviousBlocked(to + Duration(1), from).value_or(to);
    } else if (const auto* cron = std::get_if<CronPair>(engine_.get())) {
        range.count = cron->blocked.Count(FloorSecond(from) + 1, FloorSecond(to) + 1);
        if (range.count == 0) return range;
        range.first =
            FromSecond(cron->blocked.Next(FloorSecond(from), FloorSecond(to))).value_or(from);
        range.last =
            FromSecond(cron->blocked.Previous(FloorSecond(to) + 1, FloorSecond(from))).value_or(to);
    }
    return range;
}

TimePoint Schedule::WithJitter(std::string_view job_id, TimePoint nominal) const {
    if (spec_->jitter <= Duration::zero()) return nominal;
    Duration span = spec_->jitter + Duration(1);  // [0, jitter]
    if (const auto next = Next(nominal)) span = std::min(span, *next - nominal);
    return Delayed(job_id, nominal, span);
}

TimePoint Delayed(std::string_view job_id, TimePoint nominal, Duration span) {
    if (span <= Duration::zero()) return nominal;
    const std::uint64_t hash = HashText(job_id, nominal.time_since_epoch().count());
    const Duration delay(
        static_cast<std::int64_t>(hash % static_cast<std::uint64_t>(span.count())));
    return std::min(nominal + delay, MaxTime());
}

DstNote Schedule::NoteFor(TimePoint fire) const {
    const auto* cron = std::get_if<CronPair>(engine_.get());
    return cron != nullptr ? cron->allowed.NoteFor(FloorSecond(fire)) : DstNote::kNone;
}

}  // namespace ksana::schedule
