#include "ksana/engine/services/job_service.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "ksana/codec/v1/audit_view.hpp"
#include "ksana/engine/calendars/calendar_users.hpp"
#include "ksana/model/audit_event.hpp"
#include "ksana/model/validate.hpp"

namespace ksana::engine {

using model::Job;
using schedule::ScheduleKind;

namespace {

// The number of conflicting writes, with the planner or another editor, after which a change fails.
constexpr int kMaxJobTries = 20;
// The most calls of Plan that account for due fires during a change. Each makes up to 100 runs.
constexpr int kMaxPieces = 20;

constexpr Duration kInstant{1};

// Returns whether the change affects the job's fires.
bool FiresDiffer(const Job& before, const Job& after) {
    return before.schedule != after.schedule || before.enabled != after.enabled;
}

// The cursor of a new `once` job lies just before its time, so that a past time is recorded as
// missed.
TimePoint CursorOf(const Job& job, TimePoint now) {
    if (job.schedule.kind != ScheduleKind::kOnce) return now;
    return std::min(now, job.schedule.run_at - kInstant);
}

void Append(store::JobPlan& plan, store::JobPlan piece) {
    std::ranges::move(piece.runs, std::back_inserter(plan.runs));
    std::ranges::move(piece.ranges, std::back_inserter(plan.ranges));
    plan.planned_until = piece.planned_until;
    plan.next_run_at = piece.next_run_at;
    if (piece.tally) plan.tally = std::move(piece.tally);
}

model::AuditEvent Created(const Job& job, const Actor& by) {
    return AuditOf(
        by, {.action = model::audit::kCreated,
             .resource_type = model::audit::kJob,
             .resource_id = job.id,
             .tenant = job.tenant,
             .data = codec::AuditDataToJson({{"name", job.name}, {"request_id", by.request_id}})});
}

// Names the action by its effect, whichever way it was requested: a patch that disables a job
// pauses it.
model::AuditEvent Changed(const Job& before, const Job& after, const Actor& by) {
    std::string_view action = model::audit::kChanged;
    if (before.enabled != after.enabled) {
        action = after.enabled ? model::audit::kResumed : model::audit::kPaused;
    }
    const std::vector<std::string> members = codec::ChangedMembers(before, after);
    return AuditOf(by, {.action = action,
                        .resource_type = model::audit::kJob,
                        .resource_id = after.id,
                        .tenant = after.tenant,
                        .data = codec::AuditDataToJson(
                            {{model::audit::kReason, after.enabled ? "" : after.paused_reason},
                             {"request_id", by.request_id}},
                            &members)});
}

}  // namespace

// Returns every problem of the job as kInvalidArgument, or its compiled schedule.
Result<schedule::Schedule> JobService::Check(const Job& job) const {
    const schedule::ScheduleContext context{
        .zones = zones_, .created_at = job.state.created_at, .find_calendar = find_calendar_};
    auto problems = model::ValidateJob(job, context);
    if (!problems.empty()) return Error(std::move(problems));
    return schedule::Schedule::Compile(job.schedule, context);
}

std::vector<Problem> JobService::FaultsOf(const model::JobDefinition& definition) const {
    Job job{definition};
    const auto checked = Check(job);
    return checked ? std::vector<Problem>() : checked.error().problems;
}

Result<Job> JobService::Create(model::JobDefinition definition, const Actor& by) {
    if (definition.id.empty()) definition.id = ids_.Next().ToString();
    KSANA_TRY(const TimePoint now, store_.Now());
    Job job{std::move(definition)};
    job.state.created_at = now;
    const auto calendar = CalendarOf(job);
    KSANA_TRY(const schedule::Schedule schedule, Check(job));
    job.state.planned_until = job.enabled ? CursorOf(job, now) : now;
    store::JobPlan plan{.runs = {},
                        .ranges = {},
                        .planned_until = *job.state.planned_until,
                        .next_run_at = {},
                        .tally = {}};
    if (job.enabled) plan = plans_.PlanWith(schedule, job, now);
    model::AuditEvent audit = Created(job, by);
    return Settled(Write({.job = std::move(job),
                          .mode = store::WriteMode::kCreate,
                          .expected_version = {},
                          .plan = std::move(plan),
                          .audit = std::move(audit)},
                         now),
                   calendar);
}

std::shared_ptr<const schedule::CalendarIndex> JobService::CalendarOf(const Job& job) const {
    const bool has = find_calendar_ && !job.schedule.calendar.empty();
    return has ? find_calendar_(job.schedule.calendar) : nullptr;
}

// A calendar change looks for the jobs that use the calendar. It may not have seen a job that was
// written meanwhile, whose next fire follows the old rules; that job is planned again here.
Result<Job> JobService::Settled(Result<Job> written,
                                const std::shared_ptr<const schedule::CalendarIndex>& calendar) {
    if (!written || CalendarOf(*written) == calendar) return written;
    KSANA_TRY_VOID(PlanCalendarUsers(store_, plans_, {*written}));
    return store_.jobs().Get(written->id);
}

Result<Job> JobService::Change(const std::string& id, std::optional<std::int64_t> expected_version,
                               const Edit& edit, const Actor& by) {
    const MutexLock lock(changing_.at(std::hash<std::string>{}(id) % changing_.size()));
    for (int tries = 1;; ++tries) {
        KSANA_TRY(const Job before, store_.jobs().Get(id));
        if (expected_version && *expected_version != before.state.version) {
            return Error(Code::kConflict, "the job has been changed since it was read");
        }
        Job after = before;
        KSANA_TRY_VOID(edit(after));
        after.id = before.id;
        after.state = before.state;
        const auto calendar = CalendarOf(after);
        KSANA_TRY(const schedule::Schedule schedule, Check(after));
        KSANA_TRY(const TimePoint now, store_.Now());
        KSANA_TRY(auto plan, Replan(before, after, schedule, now));
        model::AuditEvent audit = Changed(before, after, by);
        auto written = Write({.job = std::move(after),
                              .mode = store::WriteMode::kReplace,
                              .expected_version = before.state.version,
                              .plan = std::move(plan),
                              .audit = std::move(audit)},
                             now);
        const bool again = !written && written.error().code == Code::kConflict;
        if (!again || tries >= kMaxJobTries) return Settled(std::move(written), calendar);
    }
}

// Accounts for fires that were due before the change with the old definition, and plans future
// fires with the new one.
Result<std::optional<store::JobPlan>> JobService::Replan(const Job& before, const Job& after,
                                                         const schedule::Schedule& schedule,
                                                         TimePoint now) {
    if (!FiresDiffer(before, after)) return std::optional<store::JobPlan>();
    store::JobPlan plan;
    Job cursor = before;
    for (int piece = 0; piece < kMaxPieces; ++piece) {
        Append(plan, plans_.Plan(cursor, now));
        cursor.state.planned_until = plan.planned_until;
        if (plan.planned_until >= now) break;
    }
    // More fires than one change can make up for: the rest is missed.
    if (plan.planned_until < now) {
        cursor.misfire.policy = model::MisfirePolicy::kSkip;
        cursor.misfire.grace = Duration::zero();
        Append(plan, plans_.Plan(cursor, now));
    }
    plan.planned_until = std::max(plan.planned_until, now);
    plan.next_run_at.reset();
    if (!after.enabled) return std::optional(std::move(plan));
    // If the clock was set back, planned fires stay planned: each fire is accounted for once.
    Job next = after;
    next.state.planned_until = plan.planned_until;
    if (before.schedule != after.schedule && after.schedule.kind == ScheduleKind::kOnce) {
        KSANA_TRY(const bool known, IsAccountedFor(after.id, after.schedule.run_at));
        if (!known) next.state.planned_until = CursorOf(after, plan.planned_until);
    }
    store::JobPlan coming = plans_.PlanWith(schedule, next, now);
    if (!coming.next_run_at) {
        coming.planned_until = std::max(coming.planned_until, plan.planned_until);
    }
    Append(plan, std::move(coming));
    return std::optional(std::move(plan));
}

Result<bool> JobService::IsAccountedFor(const std::string& id, TimePoint fire) {
    KSANA_TRY(const auto run, store_.jobs().FindFire(id, fire));
    if (run) return true;
    KSANA_TRY(
        const auto entries,
        store_.jobs().Ledger(
            {.job_id = id, .from = fire, .until = fire + kInstant, .limit = 1, .cursor = {}}));
    return !entries.items.empty();
}

Result<Job> JobService::Write(store::JobWrite write, TimePoint now) {
    std::vector<store::JobWrite> writes;
    writes.push_back(std::move(write));
    KSANA_TRY(auto written, store_.jobs().Write({.now = now, .writes = std::move(writes)}));
    return std::move(written.at(0));
}

Result<Job> JobService::Pause(const std::string& id, const std::string& reason, const Actor& by) {
    const auto pause = [&](Job& job) -> Result<void> {
        job.enabled = false;
        job.paused_reason = reason;
        return {};
    };
    return Change(id, {}, pause, by);
}

Result<Job> JobService::Resume(const std::string& id, const Actor& by) {
    const auto resume = [](Job& job) -> Result<void> {
        job.enabled = true;
        job.paused_reason.clear();
        return {};
    };
    return Change(id, {}, resume, by);
}

Result<void> JobService::Delete(const std::string& id, std::optional<std::int64_t> expected_version,
                                const Actor& by) {
    KSANA_TRY(const Job job, store_.jobs().Get(id));
    return store_.jobs().Delete(
        {.now = {},
         .id = id,
         .expected_version = expected_version,
         .audit = AuditOf(by, {.action = model::audit::kDeleted,
                               .resource_type = model::audit::kJob,
                               .resource_id = id,
                               .tenant = job.tenant,
                               .data = codec::AuditDataToJson(
                                   {{"name", job.name}, {"request_id", by.request_id}})})});
}

Result<std::vector<ComingFire>> JobService::NextFires(const Job& job, std::size_t count) const {
    KSANA_TRY(const schedule::Schedule schedule, Check(job));
    KSANA_TRY(TimePoint after, store_.Now());
    std::vector<ComingFire> fires;
    while (fires.size() < count) {
        const auto next = schedule.Next(after);
        if (!next) break;
        fires.push_back({.nominal = *next,
                         .start_at = schedule.WithJitter(job.id, *next),
                         .note = schedule.NoteFor(*next)});
        after = *next;
    }
    return fires;
}

Result<model::Run> JobService::RunNow(const RunNowParams& params, const Actor& by) {
    KSANA_TRY(const Job job, store_.jobs().Get(params.id));
    model::Run run = plans_.RunOf(job);
    run.trigger = model::RunTrigger::kManual;
    run.trace_parent = by.trace_parent;
    run.policy.ignores_overlap = !params.obeys_overlap;
    if (!params.obeys_dependencies) {
        run.policy.depends = false;
        run.policy.max_wait = {};
    }
    if (!params.parameters.empty()) run.payload = params.parameters;
    KSANA_TRY(const TimePoint now, store_.Now());
    run.status.ready_at = now;
    run.id = params.run_id ? *params.run_id : ids_.Next();
    std::vector<model::Run> others;
    if (job.placement.broadcast) {
        auto spread = plans_.Spread(run, now);
        if (!spread) return Error(Code::kConflict, "no live worker serves the job");
        others = *std::move(spread);
        // The runs of a broadcast do not stand in each other's way.
        run.policy.ignores_overlap = true;
    }
    plans_.NotePreference(run);
    std::vector<model::Run> runs;
    runs.push_back(run);
    std::ranges::move(others, std::back_inserter(runs));
    model::AuditEvent audit =
        AuditOf(by, {.action = model::audit::kRunNow,
                     .resource_type = model::audit::kJob,
                     .resource_id = job.id,
                     .tenant = job.tenant,
                     .data = codec::AuditDataToJson(
                         {{"run_id", run.id.ToString()}, {"request_id", by.request_id}})});
    KSANA_TRY(const auto submitted,
              store_.runs().Submit(
                  {.now = now, .runs = std::move(runs), .start = {}, .audit = std::move(audit)}));
    KSANA_TRY(auto stored, store_.runs().Get(submitted.at(0).id));
    return std::move(stored.run);
}

}  // namespace ksana::engine
