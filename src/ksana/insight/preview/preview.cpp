#include "ksana/insight/preview/preview.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/insight/preview/calendar_rule.hpp"
#include "ksana/insight/preview/preview_warnings.hpp"
#include "ksana/schedule/describe.hpp"
#include "ksana/schedule/local_time.hpp"

namespace ksana::insight {
namespace {

using schedule::Schedule;

// Excluded fires are counted up to the last fire shown; if there is none, up to this horizon.
constexpr Duration kExcludedHorizon = std::chrono::days(400);

Fire MakeFire(const Schedule& schedule, const schedule::Zone& zone, TimePoint at) {
    return {.at = at, .local = schedule::LocalTimeText(zone, at), .dst = schedule.NoteFor(at)};
}

void AddFires(const Schedule& schedule, const schedule::Zone& zone, const PreviewParams& params,
              Preview& preview) {
    const std::size_t count = std::min(params.count, kMaxPreviewFires);
    auto next = schedule.NextInDialect(preview.from);
    while (next && preview.fires.size() < count) {
        PreviewFire& shown = preview.fires.emplace_back();
        shown.fire = MakeFire(schedule, zone, *next);
        const auto following = schedule.NextInDialect(*next);
        if (preview.jitter > Duration::zero()) {
            TimePoint last = *next + preview.jitter;
            if (following) last = std::min(last, *following - kTick);
            shown.start_until = last;
            if (!params.job_id.empty()) {
                shown.start_at = schedule.WithJitter(params.job_id, *next);
            }
        }
        next = following;
    }
}

void AddExcluded(const Sources& sources, const Schedule& schedule, const schedule::Zone& zone,
                 Preview& preview) {
    const std::string& name = schedule.spec().calendar;
    if (name.empty()) return;
    const TimePoint until =
        preview.fires.empty() ? preview.from + kExcludedHorizon : preview.fires.back().fire.at;
    auto range = schedule.Blocked(preview.from, until);
    preview.excluded = range.count;
    std::optional<schedule::Calendar> rules;
    if (sources.find_rules) rules = sources.find_rules(name);
    while (range.count > 0 && preview.excluded_fires.size() < kMaxPreviewFires) {
        ExcludedFire& shown = preview.excluded_fires.emplace_back();
        shown.fire = MakeFire(schedule, zone, range.first);
        if (rules) shown.rule = ExcludingRule(*rules, zone, range.first);
        range = schedule.Blocked(range.first, until);
    }
}

// Adds another job to the counts of the fires that coincide with its own.
void Meet(const Schedule& other, std::vector<PreviewFire>& fires) {
    std::optional<TimePoint> minute;
    bool meets = false;
    for (PreviewFire& shown : fires) {
        const TimePoint at = shown.fire.at;
        const auto floor = std::chrono::floor<std::chrono::minutes>(at);
        if (minute != floor) {
            minute = floor;
            meets = other.Count(floor - kTick, floor + std::chrono::minutes(1) - kTick) > 0;
        }
        if (!meets) continue;
        ++shown.same_minute;
        const auto second = std::chrono::floor<std::chrono::seconds>(at);
        if (other.Count(second - kTick, second + std::chrono::seconds(1) - kTick) > 0) {
            ++shown.same_second;
        }
    }
}

Result<void> AddCollisions(const Sources& sources, const PreviewParams& params, Preview& preview) {
    if (!params.collisions || preview.fires.empty()) return {};
    const std::size_t most = std::min(params.max_jobs, kMaxComparedJobs);
    store::JobQuery query;
    query.filter.enabled = true;
    std::size_t seen = 0;
    do {
        query.limit = std::min(most - seen, store::kMaxPageSize);
        if (query.limit == 0) {
            preview.compared_all = false;
            return {};
        }
        KSANA_TRY_VOID(sources.GoOn());
        KSANA_TRY(const auto page, sources.store.jobs().List(query));
        seen += page.items.size();
        for (const model::Job& job : page.items) {
            if (job.id == params.job_id || !job.state.next_run_at) continue;
            const auto schedule = sources.schedules.Of(job);
            if (!schedule) continue;  // a broken schedule does not fire
            ++preview.compared_jobs;
            Meet(*schedule, preview.fires);
        }
        query.cursor = page.next;
    } while (!query.cursor.empty());
    return {};
}

// An `every` counts from the creation of its job.
Result<TimePoint> OriginOf(const Sources& sources, const PreviewParams& params, TimePoint from) {
    if (params.job_id.empty()) return from;
    KSANA_TRY(const auto stored, sources.store.jobs().GetMany({params.job_id}));
    return stored.empty() ? from : stored.front().state.created_at;
}

}  // namespace

Result<Preview> PreviewSchedule(const Sources& sources, const PreviewParams& params) {
    Preview preview;
    if (params.from) {
        preview.from = *params.from;
    } else {
        KSANA_TRY(preview.from, sources.store.Now());
    }
    KSANA_TRY(const TimePoint origin, OriginOf(sources, params, preview.from));
    KSANA_TRY(const Schedule schedule, Schedule::Compile(params.spec, sources.ContextFor(origin)));
    KSANA_TRY(const auto zone, sources.zones.Find(params.spec.zone));
    preview.words = schedule::DescribeSchedule(params.spec);
    preview.zone = zone->name();
    preview.jitter = params.spec.jitter;
    AddFires(schedule, *zone, params, preview);
    AddExcluded(sources, schedule, *zone, preview);
    preview.warnings = WarningsOf(sources, schedule, *zone, preview.from);
    KSANA_TRY_VOID(AddCollisions(sources, params, preview));
    return preview;
}

}  // namespace ksana::insight
