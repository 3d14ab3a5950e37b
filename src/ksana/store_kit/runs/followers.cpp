#include "ksana/store_kit/runs/followers.hpp"

#include <algorithm>

#include "ksana/base/time/time_text.hpp"
#include "ksana/codec/records/join_codec.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/model/run/trace_context.hpp"
#include "ksana/schedule/schedule.hpp"

namespace ksana::store_kit {
namespace {

using model::Job;
using schedule::AfterJoin;
using schedule::AfterOn;

// So many runs that became final are looked at to find the latest end: with callbacks, a run ends
// before that.
constexpr std::size_t kLook = 20;

// The states of a run whose end makes a fire of a schedule with `on`.
model::RunStates StatesOf(AfterOn on) {
    model::RunStates states = 0;
    for (std::size_t i = 0; i < model::kEnumCount<model::RunState>; ++i) {
        const auto state = static_cast<model::RunState>(i);
        const bool counts = model::IsFinal(state) && model::CountsForOthers(state);
        if (counts && model::Matches(on, state)) states |= model::SetOf(state);
    }
    return states;
}

bool IsComplete(const model::Join& join, const Job& job) {
    return std::ranges::all_of(job.schedule.jobs, [&](const std::string& parent) {
        return join.ended.find(parent) != join.ended.end();
    });
}

// Returns the latest of the ends that have arrived. A fire accounts for all of them: the reaper
// must not find one of them again.
TimePoint LatestOf(const model::Join& join, TimePoint at) {
    for (const auto& [parent, text] : join.ended) {
        if (const auto ended = ParseTime(text)) at = std::max(at, *ended);
    }
    return at;
}

// Returns the latest matching end of the other job's runs since all that the job has accounted for.
Result<std::optional<TimePoint>> EndSince(Transaction& tx, const Job& job,
                                          const std::string& parent) {
    const TimePoint known = job.state.planned_until.value_or(job.state.created_at);
    RunList list{.sort = store::RunSort::kFinished, .limit = kLook};
    list.filter.job_id = parent;
    list.filter.states = StatesOf(job.schedule.on);
    list.filter.finished_from = known + Duration(1);
    KSANA_TRY(const ListedRuns finished, tx.ListRuns(list));
    std::optional<TimePoint> latest;
    for (const model::Run& run : finished.rows) {
        const TimePoint at = model::EndForFollowers(run.status);
        if (at > latest.value_or(known)) latest = at;
    }
    return latest;
}

bool HasJoin(const Job& job) {
    return job.schedule.kind == schedule::ScheduleKind::kAfter &&
           job.schedule.join == AfterJoin::kAll && job.schedule.jobs.size() > 1;
}

}  // namespace

Result<void> BeginJoin(Transaction& tx, Job& job) {
    if (!HasJoin(job)) return {};
    for (const std::string& parent : job.schedule.jobs) {
        KSANA_TRY(const auto ended, EndSince(tx, job, parent));
        if (ended) job.state.planned_until = *ended;
    }
    return {};
}

Result<void> Followers::Lock(const std::set<std::string>& ids) {
    KSANA_TRY(std::vector<Job> jobs, tx_.LockJobs({ids.begin(), ids.end()}));
    for (Job& job : jobs) {
        std::string id = job.id;
        jobs_.insert_or_assign(std::move(id), std::move(job));
    }
    return {};
}

Result<void> Followers::Tell(const std::vector<Ending>& endings) {
    std::map<std::string, std::vector<std::string>> dependants;
    std::set<std::string> ids;
    for (const Ending& ending : endings) {
        if (dependants.contains(ending.job_id)) continue;
        KSANA_TRY(dependants[ending.job_id], tx_.DependantsOf(ending.job_id));
        const auto& children = dependants[ending.job_id];
        if (!children.empty()) ids.insert(ending.job_id);
        ids.insert(children.begin(), children.end());
    }
    if (ids.empty()) return {};
    KSANA_TRY_VOID(Lock(ids));
    for (const Ending& ending : endings) {
        for (const std::string& id : dependants[ending.job_id]) {
            const auto job = jobs_.find(id);
            if (job == jobs_.end()) continue;
            if (model::DependsOn(job->second, ending.job_id)) waiting_.insert(id);
            KSANA_TRY_VOID(Arrive(job->second, ending));
        }
    }
    return {};
}

Result<void> Followers::Arrive(Job& job, const Ending& ending) {
    const bool counts = ending.follows && model::Follows(job, ending.job_id) &&
                        model::Matches(job.schedule.on, ending.state);
    if (!counts) return {};
    return HasJoin(job) ? Arrive(job, ending.job_id, ending.at, ending.trace)
                        : Fire(job, ending.at, ending.trace);
}

// The document is written under the lock of its job, so no other transaction changes it meanwhile.
Result<void> Followers::Arrive(Job& job, const std::string& parent, TimePoint at,
                               const std::string& trace) {
    KSANA_TRY(const auto stored, tx_.LockDocument(model::kJoinKind, job.id));
    model::Join join = stored ? codec::JoinFromJson(stored->body) : model::Join{};
    join.ended[parent] = FormatTime(at);
    if (IsComplete(join, job)) {
        if (stored) KSANA_TRY_VOID(tx_.DeleteDocument(model::kJoinKind, job.id));
        return Fire(job, LatestOf(join, at), trace);
    }
    return tx_.PutDocument({.kind = model::kJoinKind,
                            .key = job.id,
                            .version = stored ? stored->version + 1 : 1,
                            .body = codec::JoinToJson(join),
                            .updated_at = now_,
                            .expires_at = {}});
}

// Makes the run of a fire, or records it as skipped while the job is paused. Outside the bounds of
// the schedule there is no fire, but the ends of a join are accounted for.
Result<void> Followers::Fire(Job& job, TimePoint at, const std::string& trace) {
    const auto nominal = model::FireAfter(job, at);
    if (!nominal && !HasJoin(job)) return {};
    const TimePoint known = job.state.planned_until.value_or(job.state.created_at);
    job.state.planned_until = nominal.value_or(std::max(known, at));
    KSANA_TRY_VOID(tx_.UpdatePlans({job}));
    if (!nominal) return {};
    tx_.Touch(store::Topic::kJobs);
    if (!job.enabled) {
        return tx_.InsertLedger(
            {{.job_id = job.id,
              .range = {model::FireFate::kSkippedPaused, {1, *nominal, *nominal}},
              .recorded_at = now_}});
    }
    model::Run& run = runs_.emplace_back(source_.RunOf(job));
    run.trigger = model::RunTrigger::kFire;
    run.nominal_at = *nominal;
    run.trace_parent = trace;
    run.status.ready_at = *nominal;
    if (job.schedule.jitter > Duration::zero()) {
        run.status.ready_at =
            schedule::Delayed(job.id, *nominal, job.schedule.jitter + Duration(1));
    }
    return {};
}

Result<void> Followers::Sweep(std::string& cursor, std::size_t limit) {
    KSANA_TRY(const std::vector<model::Document> joins, tx_.ListDocuments({.kind = model::kJoinKind,
                                                                           .prefix = {},
                                                                           .after_kind = {},
                                                                           .after_key = cursor,
                                                                           .alive_at = {},
                                                                           .limit = limit}));
    cursor = joins.size() < limit ? "" : joins.back().key;
    for (const model::Document& join : joins) {
        if (join.updated_at + model::kLookAgain <= now_) KSANA_TRY_VOID(Look(join));
    }
    return {};
}

Result<void> Followers::Look(const model::Document& document) {
    KSANA_TRY_VOID(Lock({document.key}));
    const auto found = jobs_.find(document.key);
    if (found == jobs_.end()) return tx_.DeleteDocument(model::kJoinKind, document.key);
    Job& job = found->second;
    KSANA_TRY(const auto stored, tx_.LockDocument(model::kJoinKind, document.key));
    if (!stored || stored->body != document.body) return {};  // it went on meanwhile
    const model::Join join = codec::JoinFromJson(stored->body);
    std::vector<std::pair<TimePoint, std::string>> untold;
    for (const std::string& parent : job.schedule.jobs) {
        if (join.ended.find(parent) != join.ended.end()) continue;
        KSANA_TRY(const auto at, EndSince(tx_, job, parent));
        if (at) untold.emplace_back(*at, parent);
    }
    std::ranges::sort(untold);
    for (const auto& [at, parent] : untold) KSANA_TRY_VOID(Arrive(job, parent, at, {}));
    if (!untold.empty()) return {};
    model::Document looked = *stored;  // its time moves, so that it is not looked at each time
    ++looked.version;
    looked.updated_at = now_;
    return tx_.PutDocument(looked);
}

}  // namespace ksana::store_kit
