#include "ksana/insight/preview/preview_warnings.hpp"

#include <fmt/core.h>

#include "ksana/model/job/policy.hpp"
#include "ksana/schedule/cron/cron_parse.hpp"
#include "ksana/schedule/local_time.hpp"

namespace ksana::insight {
namespace {

using schedule::DstNote;
using schedule::Schedule;
using schedule::ScheduleKind;
using schedule::ScheduleSpec;

// More than a year, so that every yearly clock change is included.
constexpr Duration kDstHorizon = std::chrono::days(400);
constexpr std::size_t kMaxChanges = 8;
constexpr std::size_t kMaxFiresNearChange = 500;
constexpr std::int64_t kFrequentPerMinute = 60;

// Collects the warnings about one schedule. For one call; the arguments must outlive it.
class WarningCollector {
  public:
    WarningCollector(const Sources& sources, const Schedule& schedule, const schedule::Zone& zone,
                     TimePoint from)
        : sources_(sources),
          schedule_(schedule),
          spec_(schedule.spec()),
          zone_(zone),
          from_(from) {}

    std::vector<PreviewWarning> Advise() {
        const auto next = schedule_.Next(from_);
        if (!schedule_.HasTimes()) {
            Add(WarningKind::kAfterOthers,
                "it fires when the runs of other jobs end, so it has no times of its own");
        } else if (!next) {
            Silent();
        } else {
            Frequent(*next);
        }
        if (spec_.kind == ScheduleKind::kCron) {
            const auto cron = schedule::ParseCron(spec_.cron, {spec_.dialect, spec_.day_match});
            if (cron) ShortMonths(*cron);
            // A repeating expression follows the wall clock; that needs no warning.
            if (cron && cron->IsFixedTime()) Clocks();
        }
        return std::move(warnings_);
    }

  private:
    void Add(WarningKind kind, std::string text) { warnings_.push_back({kind, std::move(text)}); }

    void Silent() {
        const auto last = schedule_.Previous(from_ + kTick);
        if (last) {
            Add(WarningKind::kOnlyInThePast, fmt::format("it fired last at {} and never will again",
                                                         schedule::LocalTimeText(zone_, *last)));
        } else if (!spec_.calendar.empty() && FiresWithoutCalendar()) {
            Add(WarningKind::kAllExcluded,
                fmt::format("calendar {} leaves no fire over", spec_.calendar));
        } else {
            Add(WarningKind::kNeverFires, "it is valid, but it never fires");
        }
    }

    bool FiresWithoutCalendar() const {
        ScheduleSpec bare = spec_;
        bare.calendar.clear();
        const auto compiled = Schedule::Compile(bare, sources_.ContextFor(from_));
        return compiled && compiled->EverFires();
    }

    void Frequent(TimePoint next) {
        const TimePoint before = next - kTick;
        const std::int64_t a_minute = schedule_.Count(before, before + std::chrono::minutes(1));
        if (a_minute < kFrequentPerMinute) return;
        Add(WarningKind::kFrequent,
            fmt::format("it fires {} times a minute; each fire is a run that is stored", a_minute));
    }

    void ShortMonths(const schedule::CronSpec& cron) {
        if (cron.day_star || cron.HasSpecialDays()) return;
        const std::uint32_t days = cron.days >> 1U;  // bit 0: the first
        if (days == 0 || (days & 0x0FFFFFFFU) != 0) return;
        std::string missing;
        for (int month = 1; month <= 12; ++month) {
            if ((cron.months >> static_cast<unsigned>(month) & 1U) == 0) continue;
            const int length = schedule::DaysInMonth(2025, month);
            if ((days & ((1U << static_cast<unsigned>(length)) - 1U)) != 0) continue;
            missing += fmt::format("{}{:02}", missing.empty() ? "" : ", ", month);
        }
        if (missing.empty()) return;
        Add(WarningKind::kShortMonths,
            fmt::format("months that are too short are left out ({}); L is the last day of any",
                        missing));
    }

    // Warns of clock changes, by means of a copy of the schedule that keeps every affected fire.
    void Clocks() {
        ScheduleSpec open = spec_;
        open.dst = {schedule::GapPolicy::kRunAfter, schedule::FoldPolicy::kBoth};
        const auto all = Schedule::Compile(open, sources_.ContextFor(from_));
        if (!all) return;
        bool gap = false;
        bool fold = false;
        for (const ZoneChange& change :
             ZoneChanges(zone_, from_, from_ + kDstHorizon, kMaxChanges)) {
            const bool forward = change.by > Duration::zero();
            bool& told = forward ? gap : fold;
            if (told) continue;
            const Duration reach = forward ? kTick : -change.by;
            for (const TimePoint fire :
                 all->Fires(change.at - reach, change.at + reach, kMaxFiresNearChange)) {
                if (all->NoteFor(fire) == DstNote::kNone) continue;
                forward ? WarnOfGap(change.at) : WarnOfFold(change.at);
                told = true;
                break;
            }
        }
    }

    void WarnOfGap(TimePoint at) {
        const bool skips = spec_.dst.gap == schedule::GapPolicy::kSkip;
        Add(WarningKind::kDstGap,
            fmt::format("clocks skip a time of it, next before {}: {} (gap policy {})",
                        schedule::LocalTimeText(zone_, at),
                        skips ? "it does not fire then" : "it fires right after",
                        model::NameOf(spec_.dst.gap)));
    }

    void WarnOfFold(TimePoint at) {
        Add(WarningKind::kDstFold,
            fmt::format("a time of it comes twice, next around {}: it fires on {} (fold policy {})",
                        schedule::LocalTimeText(zone_, at),
                        spec_.dst.fold == schedule::FoldPolicy::kBoth ? "both passes" : "one pass",
                        model::NameOf(spec_.dst.fold)));
    }

    const Sources& sources_;
    const Schedule& schedule_;
    const ScheduleSpec& spec_;
    const schedule::Zone& zone_;
    const TimePoint from_;
    std::vector<PreviewWarning> warnings_;
};

}  // namespace

std::vector<PreviewWarning> WarningsOf(const Sources& sources, const Schedule& schedule,
                                       const schedule::Zone& zone, TimePoint from) {
    return WarningCollector(sources, schedule, zone, from).Advise();
}

using std::chrono::seconds;

std::vector<ZoneChange> ZoneChanges(const schedule::Zone& zone, TimePoint from, TimePoint until,
                                    std::size_t max) {
    std::vector<ZoneChange> changes;
    const auto second = [](TimePoint t) {
        return std::chrono::floor<seconds>(t).time_since_epoch().count();
    };
    for (std::int64_t index = zone.IndexAt(second(from)); changes.size() < max; ++index) {
        const schedule::ZoneSegment segment = zone.Segment(index);
        if (segment.end > second(until)) break;  // also the last segment, which has no end
        const std::int32_t after = zone.Segment(index + 1).offset;
        if (after != segment.offset) {
            changes.push_back({TimePoint(seconds(segment.end)), seconds(after - segment.offset)});
        }
    }
    return changes;
}

}  // namespace ksana::insight
