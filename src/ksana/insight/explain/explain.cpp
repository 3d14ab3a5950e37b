#include "ksana/insight/explain/explain.hpp"

#include "ksana/base/time/time_text.hpp"
#include "ksana/insight/explain/explain_case.hpp"
#include "ksana/insight/explain/explanation_text.hpp"

namespace ksana::insight {
namespace {

// Adds the fire itself, its start time, and the fires around it.
void Describe(const ExplainCase& c, const FoundFire& found, Explanation& explanation) {
    const bool is_fire = found.kind != FoundKind::kNone;
    AddNearest(c, is_fire ? found.at : c.params.at, explanation);
    if (!is_fire) return;
    explanation.fire = c.FireAt(found.at);
    explanation.snapped = found.at != c.params.at;
    if (found.kind != FoundKind::kAllowed) return;
    const TimePoint start = c.schedule->WithJitter(c.job->id, found.at);
    if (start != found.at) explanation.start_at = start;
}

Result<void> Judge(const ExplainCase& c, const FoundFire& found, Explanation& explanation) {
    if (found.kind == FoundKind::kNone) return ExplainNoFire(c, explanation);
    KSANA_TRY(const auto run, c.sources.store.jobs().FindFire(c.params.job_id, found.at));
    if (!run) return ExplainNoRun(c, found, explanation);
    if (!c.job) {
        explanation.notes.emplace_back("the job has been deleted since");
    } else if (found.kind == FoundKind::kRecorded &&
               c.job->schedule.kind != schedule::ScheduleKind::kAfter) {
        // Fires after other jobs are known from the record only.
        explanation.notes.emplace_back("the schedule has been changed since");
    } else if (found.kind == FoundKind::kBlocked) {
        explanation.notes.emplace_back("the calendar excludes this time now");
    }
    return ExplainRun(c, *run, explanation);
}

}  // namespace

Result<Explanation> Explain(const Sources& sources, const ExplainParams& params) {
    // Times close to the limits have no text or no neighbours.
    const TimePoint first = MinTime() + std::chrono::days(2);
    const TimePoint last = MaxTime() - std::chrono::days(2);
    if (params.at < first || params.at > last) {
        return Error(Code::kInvalidArgument, "the time lies outside the years 0000 to 9999");
    }
    KSANA_TRY(const ExplainCase c, OpenCase(sources, params));
    Explanation explanation;
    explanation.job_id = params.job_id;
    explanation.asked_at = params.at;
    explanation.now = c.now;
    explanation.zone = c.zone->name();
    if (c.job) explanation.planned_until = c.job->state.planned_until;
    KSANA_TRY(const FoundFire found, ResolveFire(c));
    Describe(c, found, explanation);
    KSANA_TRY_VOID(Judge(c, found, explanation));
    explanation.text = Sentence(c, explanation);
    return explanation;
}

}  // namespace ksana::insight
