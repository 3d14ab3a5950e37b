#include "ksana/insight/explain/explain_case.hpp"

#include <algorithm>
#include <optional>

namespace ksana::insight {
namespace {

using schedule::Schedule;

constexpr Duration kMaxTolerance = std::chrono::hours(24);
// The most runs and ledger entries read near a time.
constexpr std::size_t kNear = 50;

struct Candidate {
    FoundFire fire;
    Duration distance{};
};

Duration ToleranceOf(const ExplainCase& c) {
    return std::clamp(c.params.tolerance, Duration::zero(), kMaxTolerance);
}

// Returns the distance to a fire, which extends from its nominal time to its start with jitter.
Duration DistanceFrom(const ExplainCase& c, TimePoint fire) {
    const TimePoint at = c.params.at;
    if (at < fire) return fire - at;
    const TimePoint start = c.schedule->WithJitter(c.job->id, fire);
    return at <= start ? Duration::zero() : at - start;
}

// Returns the nearest fire of the schedule; of two at the same distance, the one that is not
// blocked.
std::optional<FoundFire> NearestFire(const ExplainCase& c) {
    const TimePoint at = c.params.at;
    const Duration tolerance = ToleranceOf(c);
    std::optional<Candidate> best;
    const auto offer = [&](FoundKind kind, TimePoint fire, Duration distance) {
        if (distance > tolerance || (best && best->distance <= distance)) return;
        best = Candidate{{kind, fire}, distance};
    };
    const Schedule& schedule = *c.schedule;
    if (const auto fire = schedule.Previous(at + kTick)) {
        offer(FoundKind::kAllowed, *fire, DistanceFrom(c, *fire));
    }
    if (const auto fire = schedule.Next(at)) {
        offer(FoundKind::kAllowed, *fire, *fire - at);
    }
    // A blocked fire exactly at the requested time takes precedence over the delayed start of an
    // earlier one.
    if (c.IsBlocked(at) && !c.Fires(at)) return FoundFire{FoundKind::kBlocked, at};
    if (const auto range = schedule.Blocked(at - tolerance - kTick, at); range.count > 0) {
        offer(FoundKind::kBlocked, range.last, at - range.last);
    }
    if (const auto range = schedule.Blocked(at, at + tolerance); range.count > 0) {
        offer(FoundKind::kBlocked, range.first, range.first - at);
    }
    return best ? std::optional(best->fire) : std::nullopt;
}

// Returns whether a ledger entry begins or ends exactly at the requested time: then it was a fire.
Result<bool> IsEndOfRange(const ExplainCase& c) {
    const TimePoint at = c.params.at;
    KSANA_TRY(const auto page, c.sources.store.jobs().Ledger({.job_id = c.params.job_id,
                                                              .from = at,
                                                              .until = at + kTick,
                                                              .limit = kNear,
                                                              .cursor = {}}));
    return std::ranges::any_of(page.items, [&](const model::LedgerEntry& entry) {
        return entry.range.range.first == at || entry.range.range.last == at;
    });
}

// Returns the nearest recorded run of an earlier schedule of the job.
Result<std::optional<FoundFire>> NearestRun(const ExplainCase& c) {
    const Duration tolerance = ToleranceOf(c);
    const TimePoint at = c.params.at;
    store::RunQuery query;
    query.filter.job_id = c.params.job_id;
    query.filter.finished_from = at - tolerance;
    query.sort = store::RunSort::kFinished;
    query.descending = false;
    query.limit = kNear;
    KSANA_TRY(const auto page, c.sources.store.runs().List(query));
    std::optional<FoundFire> best;
    for (const model::Run& run : page.items) {
        if (!run.nominal_at) continue;
        const Duration distance = std::chrono::abs(*run.nominal_at - at);
        if (distance > tolerance) continue;
        if (best && std::chrono::abs(best->at - at) <= distance) continue;
        best = FoundFire{FoundKind::kRecorded, *run.nominal_at};
    }
    return best;
}

// A user who asks for 02:30 in a night without that time means the fire that was moved to 03:00. In
// the winter offset, 02:30 is up to an hour after it.
std::optional<FoundFire> MovedFire(const ExplainCase& c) {
    const auto second = std::chrono::floor<std::chrono::seconds>(c.params.at);
    const std::int64_t index = c.zone->IndexAt(second.time_since_epoch().count());
    const schedule::ZoneSegment segment = c.zone->Segment(index);
    if (segment.begin == schedule::ZoneSegment{}.begin) return std::nullopt;
    const std::int64_t gap = segment.offset - c.zone->Segment(index - 1).offset;
    const TimePoint end{std::chrono::seconds(segment.begin)};
    const bool inside = gap > 0 && c.params.at < end + std::chrono::seconds(gap);
    if (!inside || !c.Fires(end)) return std::nullopt;
    if (c.schedule->NoteFor(end) != schedule::DstNote::kAfterGap) return std::nullopt;
    return FoundFire{FoundKind::kAllowed, end};
}

}  // namespace

Result<FoundFire> ResolveFire(const ExplainCase& c) {
    const TimePoint at = c.params.at;
    std::optional<FoundFire> nearest;
    if (c.schedule) nearest = NearestFire(c);
    if (nearest && nearest->at == at) return *nearest;
    KSANA_TRY(const auto exact, c.sources.store.jobs().FindFire(c.params.job_id, at));
    if (exact) return FoundFire{FoundKind::kRecorded, at};
    KSANA_TRY(const bool recorded, IsEndOfRange(c));
    if (recorded) return FoundFire{FoundKind::kRecorded, at};
    if (nearest) return *nearest;
    if (c.schedule) {
        if (const auto moved = MovedFire(c)) return *moved;
    }
    if (!c.schedule || c.ChangedSince(at)) {
        KSANA_TRY(const auto run, NearestRun(c));
        if (run) return *run;
    }
    return FoundFire{};
}

}  // namespace ksana::insight
