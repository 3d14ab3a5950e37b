#include "ksana/insight/explain/explain_case.hpp"

#include "ksana/insight/preview/calendar_rule.hpp"
#include "ksana/schedule/local_time.hpp"

namespace ksana::insight {
namespace {}  // namespace

Fire ExplainCase::FireAt(TimePoint at) const {
    return {.at = at,
            .local = schedule::LocalTimeText(*zone, at),
            .dst = schedule && Fires(at) ? schedule->NoteFor(at) : schedule::DstNote::kNone};
}

bool ExplainCase::Fires(TimePoint at) const {
    return schedule && schedule->Next(at - kTick) == std::optional(at);
}

bool ExplainCase::IsBlocked(TimePoint at) const {
    return schedule && schedule->Blocked(at - kTick, at).count > 0;
}

bool ExplainCase::ChangedSince(TimePoint at) const {
    return !job || (job->state.version > 1 && job->state.updated_at > at);
}

TimePoint ExplainCase::PlannedUntil() const {
    return job ? job->state.planned_until.value_or(job->state.created_at) : TimePoint::max();
}

Result<ExplainCase> OpenCase(const Sources& sources, const ExplainParams& params) {
    ExplainCase c{.sources = sources,
                  .params = params,
                  .now = {},
                  .job = {},
                  .schedule = {},
                  .schedule_error = {},
                  .zone = schedule::Zone::Utc()};
    if (params.now) {
        c.now = *params.now;
    } else {
        KSANA_TRY(c.now, sources.store.Now());
    }
    auto job = sources.store.jobs().Get(params.job_id);
    if (!job && job.error().code != Code::kNotFound) return std::move(job).error();
    if (!job) return c;
    c.job = *std::move(job);
    if (auto zone = sources.zones.Find(c.job->schedule.zone)) c.zone = *std::move(zone);
    auto compiled = sources.schedules.Of(*c.job);
    if (compiled) {
        c.schedule = *std::move(compiled);
    } else {
        c.schedule_error = compiled.error().Describe();
    }
    return c;
}

void AddNearest(const ExplainCase& c, TimePoint around, Explanation& explanation) {
    if (!c.schedule) return;
    const auto before = c.schedule->Previous(around);
    const bool once = c.job->schedule.kind == schedule::ScheduleKind::kOnce;
    if (before && (once || *before >= c.job->state.created_at))
        explanation.before = c.FireAt(*before);
    if (const auto after = c.schedule->Next(around)) explanation.after = c.FireAt(*after);
}

CalendarFacts CalendarFactsOf(const ExplainCase& c, TimePoint at) {
    CalendarFacts facts;
    if (!c.job) return facts;
    facts.name = c.job->schedule.calendar;
    if (!c.sources.find_rules || facts.name.empty()) return facts;
    if (const auto calendar = c.sources.find_rules(facts.name)) {
        facts.rule = ExcludingRule(*calendar, *c.zone, at);
    }
    return facts;
}

}  // namespace ksana::insight
