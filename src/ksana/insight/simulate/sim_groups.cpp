#include "ksana/insight/simulate/sim_groups.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <unordered_map>

#include "ksana/base/time/time_text.hpp"
#include "ksana/insight/preview/preview_warnings.hpp"

namespace ksana::insight {
namespace {

using schedule::DstNote;
using schedule::Schedule;
using schedule::ScheduleKind;
using schedule::ScheduleSpec;

// The number of fires computed before they are passed to the lanes of a group.
constexpr std::size_t kBlock = 4096;
// Larger than any clock change in history.
constexpr Duration kLargestChange = std::chrono::hours(25);
constexpr std::size_t kMaxSimulatedChanges = 100;

// Returns a key that is equal for schedules with the same fires. An `every` without start_at counts
// from the creation of its job, which is not in the spec, so its first fire is part of the key.
std::string KeyOf(const Schedule& schedule) {
    const ScheduleSpec& spec = schedule.spec();
    const auto micros = [](const std::optional<TimePoint>& at) {
        return at ? at->time_since_epoch().count() : -1;
    };
    const bool floating = spec.kind == ScheduleKind::kEvery && !spec.start_at;
    return fmt::format(
        "{} {} {} {} {} {} {} {} {} {} {} {}\n{}\n{}\n{}", static_cast<int>(spec.kind),
        static_cast<int>(spec.dialect), static_cast<int>(spec.day_match),
        static_cast<int>(spec.dst.gap), static_cast<int>(spec.dst.fold),
        spec.run_at.time_since_epoch().count(), spec.every.count(), spec.jitter.count(),
        micros(spec.start_at), spec.start_at.has_value(), micros(spec.end_at),
        floating ? micros(schedule.Next(MinTime())) : 0, spec.cron, spec.zone, spec.calendar);
}

}  // namespace

SimGroups::SimGroups(std::span<const SimJob> jobs, const Sources& sources)
    : jobs_(jobs), sources_(sources) {
    std::unordered_map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const auto [place, fresh] = places.try_emplace(KeyOf(jobs[i].schedule), groups_.size());
        if (fresh) groups_.emplace_back();
        groups_[place->second].push_back(i);
    }
}

Result<void> SimGroups::Simulate(TimePoint from, SimResults& books) const {
    for (const SimGroup& group : groups_) {
        KSANA_TRY_VOID(SimulateGroup(group, from, books));
    }
    return {};
}

Result<void> SimGroups::SimulateGroup(const SimGroup& group, TimePoint from,
                                      SimResults& books) const {
    const Schedule& schedule = jobs_[group.front()].schedule;
    const bool jitter = schedule.spec().jitter > Duration::zero();
    std::vector<SimLane> lanes;
    lanes.reserve(group.size());
    for (const std::size_t job : group) lanes.emplace_back(*jobs_[job].outcome, books);
    std::vector<TimePoint> fires;
    fires.reserve(kBlock);
    for (auto next = schedule.Next(from - kTick); next && *next < books.to;) {
        KSANA_TRY_VOID(sources_.GoOn());
        fires.clear();
        for (; next && *next < books.to && fires.size() < kBlock; next = schedule.Next(*next)) {
            fires.push_back(*next);
        }
        for (std::size_t i = 0; i < lanes.size(); ++i) {
            if (!jitter) {
                for (const TimePoint fire : fires) lanes[i].Fire(fire);
                continue;
            }
            const std::string& id = jobs_[group[i]].outcome->id;
            for (const TimePoint fire : fires) {
                const TimePoint start = schedule.WithJitter(id, fire);
                if (start < books.to) lanes[i].Fire(start);
            }
        }
    }
    for (SimLane& lane : lanes) lane.Finish();
    return {};
}

Result<SlotsAnswer> SimGroups::SimulateSlots(const SlotsWish& wish, SimResults& books) const {
    std::vector<SimGroup> together;
    for (const SimGroup& group : groups_) {
        if (jobs_[group.front()].schedule.spec().jitter == Duration::zero()) {
            together.push_back(group);
        } else {
            for (const std::size_t job : group) together.push_back({job});
        }
    }
    const SlotsAnswer answer =
        insight::SimulateSlots({.jobs = jobs_,
                                .groups = together,
                                .from = wish.from,
                                .slots = wish.slots,
                                .links = wish.links,
                                .max_fires = wish.max_fires,
                                .stopped = [this] { return !sources_.GoOn().has_value(); }},
                               books);
    KSANA_TRY_VOID(sources_.GoOn());
    return answer;
}

void SimGroups::AddNotes(TimePoint from, SimResults& books) const {
    for (const SimGroup& group : groups_) {
        const Schedule& schedule = jobs_[group.front()].schedule;
        const std::int64_t excluded = schedule.spec().calendar.empty()
                                          ? 0
                                          : schedule.Blocked(from - kTick, books.to - kTick).count;
        for (const std::size_t job : group) jobs_[job].outcome->counts.excluded = excluded;
        if (schedule.spec().kind == ScheduleKind::kCron) AddDstNotes(group, from, books);
    }
}

// Only fires near a clock change can have a note.
void SimGroups::AddDstNotes(const SimGroup& group, TimePoint from, SimResults& books) const {
    const Schedule& schedule = jobs_[group.front()].schedule;
    const auto zone = sources_.zones.Find(schedule.spec().zone);
    if (!zone || (*zone)->IsUtc()) return;
    TimePoint done = from - kTick;
    for (const ZoneChange& change : ZoneChanges(**zone, from - kLargestChange,
                                                books.to + kLargestChange, kMaxSimulatedChanges)) {
        const Duration reach = std::chrono::abs(change.by) + std::chrono::seconds(1);
        const TimePoint until = std::min(change.at + reach, books.to - kTick);
        done = std::max(done, change.at - reach);
        for (auto fire = schedule.Next(done); fire && *fire <= until; fire = schedule.Next(done)) {
            done = *fire;
            const DstNote note = schedule.NoteFor(*fire);
            if (note == DstNote::kNone) continue;
            for (const std::size_t job : group) {
                ++jobs_[job].outcome->counts.dst;
                books.examples.Add(SimExampleKind::kDst, jobs_[job].outcome->id, *fire, note);
            }
        }
    }
}

}  // namespace ksana::insight
