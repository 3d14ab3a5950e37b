#include "ksana/api/admin/stored_admin_jobs.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "ksana/api/admin/job_log.hpp"
#include "ksana/codec/dialects/admin_log.hpp"
#include "ksana/codec/dialects/admin_values.hpp"
#include "ksana/engine/services/job_service.hpp"

namespace ksana::api {
namespace {

using codec::EpochMs;
using model::Job;
using model::Run;
using model::RunState;
using schedule::ScheduleKind;

constexpr std::string_view kSingleNode = "SINGLE_NODE";

// Up to this many jobs are looked up one by one. The runs of more jobs are found by a pass over the
// newest kNewestRuns runs of each trigger: not every store has an index by job.
constexpr std::size_t kLookedUp = 100;
constexpr std::size_t kNewestRuns = 10'000;
constexpr std::size_t kNewestAtOnce = 200;
constexpr std::size_t kExaminedAtOnce = 2'000;

constexpr store::CountBounds kFailureBounds{.most = 10'000, .look = 10'000};

constexpr model::RunStates States(std::initializer_list<RunState> list) {
    model::RunStates states = 0;
    for (const RunState state : list) {
        states = static_cast<model::RunStates>(states | model::SetOf(state));
    }
    return states;
}
constexpr model::RunStates kFailedStates =
    States({RunState::kFailed, RunState::kTimedOut, RunState::kHeld, RunState::kResolved});
// A run in one of these states has ended for its job (model::EndsForJob).
constexpr model::RunStates kEndedStates =
    static_cast<model::RunStates>((model::kAllStates & ~model::kUnfinishedStates) |
                                  States({RunState::kHeld, RunState::kCompleting}));

// What the stored runs of a job say about it.
struct RunsOfJob {
    std::optional<Uuid> newest;  // of the runs that have ended
    std::optional<std::int64_t> fire_time;
    std::optional<std::int64_t> duration;
    std::string_view result;
    std::int64_t failures = 0;

    void See(const Run& run) {
        if (newest && run.id < *newest) return;
        newest = run.id;
        fire_time = codec::FireTimeOf(run);
        duration = codec::DurationOf(run);
        result = codec::AdminResultOf(run.status.state);
    }
};

void ShowSchedule(const Job& job, AdminJob& shown) {
    const schedule::ScheduleSpec& spec = job.schedule;
    switch (spec.kind) {
        case ScheduleKind::kCron:
            shown.cron = spec.cron;
            break;
        case ScheduleKind::kEvery:
            shown.fixed_rate = spec.every;
            if (spec.start_at) {
                shown.initial_delay =
                    std::max(*spec.start_at - job.state.created_at, Duration::zero());
            }
            break;
        case ScheduleKind::kOnce:
            shown.run_at = EpochMs(spec.run_at);
            break;
        case ScheduleKind::kAfter:
            break;  // document N has no such trigger
    }
}

// The bookkeeping of the job stands in for runs that are not stored any more.
AdminJob Show(const Job& job, const RunsOfJob& runs) {
    AdminJob shown;
    shown.id = job.id;
    shown.enabled = job.enabled;
    ShowSchedule(job, shown);
    shown.mode = kSingleNode;
    shown.next_fire_time = EpochMs(job.state.next_run_at);
    shown.run_count = job.state.total_runs;
    shown.fail_count = runs.failures;
    if (runs.fire_time) {
        shown.last_fire_time = runs.fire_time;
        shown.last_duration = runs.duration;
        shown.last_result = runs.result;
    } else {
        shown.last_fire_time = EpochMs(job.state.last_run_at);
        if (job.state.last_state) shown.last_result = codec::AdminResultOf(*job.state.last_state);
    }
    return shown;
}

Result<RunsOfJob> LookUp(store::Store& store, const Job& job) {
    RunsOfJob found;
    if (!job.state.last_state) return found;  // no run of it has ended
    store::RunQuery newest;
    newest.filter.job_id = job.id;
    newest.filter.states = kEndedStates;
    newest.limit = 1;
    newest.look = kNewestRuns;
    KSANA_TRY(const store::Page<Run> page, store.runs().List(newest));
    if (!page.items.empty()) found.See(page.items.front());
    store::RunFilter failed;
    failed.job_id = job.id;
    failed.states = kFailedStates;
    KSANA_TRY(const store::Counted counted, store.runs().CountWithin(failed, kFailureBounds));
    found.failures = counted.count;
    return found;
}

using RunsByJob = std::unordered_map<std::string, RunsOfJob>;

// Adds what the newest runs of all jobs say.
Result<void> ReadNewestRuns(store::Store& store, model::RunTrigger trigger, RunsByJob& found) {
    store::RunQuery query;
    query.filter.states = kEndedStates;
    query.filter.trigger = trigger;
    query.limit = kNewestAtOnce;
    query.look = kExaminedAtOnce;
    for (std::size_t read = 0; read < kNewestRuns; read += kNewestAtOnce) {
        KSANA_TRY(const store::Page<Run> page, store.runs().List(query));
        for (const Run& run : page.items) {
            if (run.job_id.empty()) continue;
            RunsOfJob& runs = found[run.job_id];
            runs.See(run);
            if ((kFailedStates & model::SetOf(run.status.state)) != 0) ++runs.failures;
        }
        if (page.next.empty()) break;
        query.cursor = page.next;
    }
    return {};
}

Result<std::vector<Job>> ReadJobs(store::Store& store) {
    std::vector<Job> jobs;
    store::JobQuery query;
    do {
        query.limit = std::min(store::kMaxPageSize, StoredAdminJobs::kMostJobs - jobs.size());
        KSANA_TRY(store::Page<Job> page, store.jobs().List(query));
        std::ranges::move(page.items, std::back_inserter(jobs));
        query.cursor = std::move(page.next);
    } while (!query.cursor.empty() && jobs.size() < StoredAdminJobs::kMostJobs);
    return jobs;
}

}  // namespace

Result<std::vector<AdminJob>> StoredAdminJobs::List() {
    KSANA_TRY(const std::vector<Job> jobs, ReadJobs(store_));
    std::vector<AdminJob> shown;
    shown.reserve(jobs.size());
    if (jobs.size() <= kLookedUp) {
        for (const Job& job : jobs) {
            KSANA_TRY(const RunsOfJob runs, LookUp(store_, job));
            shown.push_back(Show(job, runs));
        }
        return shown;
    }
    RunsByJob runs;
    for (const model::RunTrigger trigger : kTriggersOfJobs) {
        KSANA_TRY_VOID(ReadNewestRuns(store_, trigger, runs));
    }
    for (const Job& job : jobs) shown.push_back(Show(job, runs[job.id]));
    return shown;
}

Result<AdminJob> StoredAdminJobs::Get(const std::string& id) {
    KSANA_TRY(const Job job, store_.jobs().Get(id));
    KSANA_TRY(const RunsOfJob runs, LookUp(store_, job));
    return Show(job, runs);
}

Result<void> StoredAdminJobs::Trigger(const std::string& id,
                                      const std::map<std::string, std::string>& parameters,
                                      const engine::Actor& by) {
    KSANA_TRY([[maybe_unused]] const Run run,
              jobs_.RunNow({.id = id,
                            .parameters = codec::AdminParametersToJson(parameters),
                            .obeys_overlap = true,
                            .run_id = {}},
                           by));
    return {};
}

Result<void> StoredAdminJobs::SetEnabled(const std::string& id, bool enabled,
                                         const engine::Actor& by) {
    KSANA_TRY(const Job before, store_.jobs().Get(id));
    if (before.enabled == enabled) return {};
    KSANA_TRY([[maybe_unused]] const Job after,
              enabled ? jobs_.Resume(id, by) : jobs_.Pause(id, "", by));
    return {};
}

}  // namespace ksana::api
