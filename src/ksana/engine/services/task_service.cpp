#include "ksana/engine/services/task_service.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/model/run/trace_context.hpp"
#include "ksana/model/validate.hpp"

namespace ksana::engine {
namespace {

using model::Run;

// The most problems reported for one batch.
constexpr std::size_t kMaxProblems = 100;

bool NeedsTheTime(const NewTask& task) { return task.start_at || task.delay || task.unique.period; }

Result<void> CheckAll(const std::vector<NewTask>& tasks) {
    if (tasks.size() > store::kMaxBatch) {
        return Error(
            std::vector<Problem>{{"/runs", fmt::format("{} in one call; at most {} are taken",
                                                       tasks.size(), store::kMaxBatch)}});
    }
    std::vector<Problem> problems;
    for (std::size_t i = 0; i < tasks.size() && problems.size() < kMaxProblems; ++i) {
        for (Problem& problem : model::ValidateNewTask(tasks[i])) {
            problem.path = fmt::format("/runs/{}{}", i, problem.path);
            problems.push_back(std::move(problem));
        }
    }
    if (problems.empty()) return {};
    return Error(std::move(problems));
}

// Returns the time at which the run may start. TimePoint{} stands for the now of the storing
// transaction, which may be slightly earlier than `now`: on PostgreSQL the transaction may have
// begun already.
TimePoint ReadyAt(const NewTask& task, TimePoint now) {
    const TimePoint start = task.delay ? now + *task.delay : task.start_at.value_or(now);
    return start > now ? start : TimePoint{};
}

void SayOver(model::RunPolicy& policy, NewTask& task) {
    if (task.retry) policy.retry = *std::move(task.retry);
    policy.timeout = task.timeout.value_or(policy.timeout);
    policy.need_manual = task.need_manual.value_or(policy.need_manual);
}

Run RunOf(NewTask task, const model::RunType* type, model::RunPolicy policy, TimePoint now) {
    Run run;
    if (task.id) run.id = *task.id;
    run.category =
        task.category.empty() && type != nullptr ? type->category : std::move(task.category);
    run.policy = std::move(policy);
    SayOver(run.policy, task);
    run.status.ready_at = ReadyAt(task, now);
    run.unique.states = task.unique.states;
    if (task.unique.period) run.unique.until = now + *task.unique.period;
    run.unique.key = std::move(task.unique.key);
    run.tenant = std::move(task.tenant);
    run.type = std::move(task.type);
    run.creator = std::move(task.creator);
    run.priority = task.priority;
    run.payload = std::move(task.payload);
    run.parent = task.parent;
    if (const auto trace = model::ParseTraceParent(task.trace_parent)) {
        run.trace_parent = model::FormatTraceParent(*trace);
    }
    return run;
}

}  // namespace

Result<std::vector<Run>> TaskService::RunsOf(std::vector<NewTask> tasks) {
    TimePoint now{};
    if (std::ranges::any_of(tasks, NeedsTheTime)) {
        KSANA_TRY(now, store_.Now());
    }
    std::vector<Run> runs;
    runs.reserve(tasks.size());
    // Most tasks of one call have the same type, so its policy is computed once.
    std::shared_ptr<const model::RunType> type;
    model::RunPolicy policy;
    std::string code;
    for (NewTask& task : tasks) {
        if (runs.empty() || code != task.type) {
            code = task.type;
            type = find_type_ ? find_type_(code) : nullptr;
            policy = model::EffectivePolicy(nullptr, type.get(), defaults_);
        }
        model::Placement placement{.require = std::move(task.selector),
                                   .prefer = std::move(task.prefer),
                                   .sticky = std::move(task.sticky),
                                   .prefer_for = task.prefer_for.value_or(Duration::zero()),
                                   .broadcast = false};
        runs.push_back(RunOf(std::move(task), type.get(), policy, now));
        Place(std::move(placement), runs.back());
    }
    return runs;
}

void TaskService::Place(model::Placement placement, Run& run) const {
    if (placement == model::Placement{}) return;
    if (workers_ == nullptr) {
        run.selector = std::move(placement.require);
        return;
    }
    workers_->Place(placement, run);
    if (run.prefer.empty()) return;
    const TimePoint ready = run.status.ready_at;
    workers_->NotePreference((ready == TimePoint{} ? workers_->StoreNow() : ready) +
                             run.prefer_for);
}

Result<std::vector<store::Submitted>> TaskService::Submit(std::vector<NewTask> tasks) {
    KSANA_TRY_VOID(CheckAll(tasks));
    KSANA_TRY(std::vector<Run> runs, RunsOf(std::move(tasks)));
    return store_.runs().Submit({.now = {}, .runs = std::move(runs), .start = {}, .audit = {}});
}

Result<store::Submitted> TaskService::SubmitOne(NewTask task) {
    if (auto problems = model::ValidateNewTask(task); !problems.empty()) {
        return Error(std::move(problems));
    }
    std::vector<NewTask> one;
    one.push_back(std::move(task));
    KSANA_TRY(std::vector<Run> runs, RunsOf(std::move(one)));
    const bool at_once = runs.at(0).status.ready_at == TimePoint{};
    std::unique_ptr<AgentPolls::Reservation> poll;
    if (at_once && polls_ != nullptr) poll = polls_->Reserve(runs.at(0));
    store::SubmitParams params{
        .now = {}, .runs = std::move(runs), .start = {}, .audit = {}, .want_runs = true};
    if (poll) params.start = poll->start();
    KSANA_TRY(auto outcomes, store_.runs().Submit(std::move(params)));
    store::Submitted& outcome = outcomes.at(0);
    if (outcome.verdict == store::SubmitVerdict::kStarted) poll->Give(*outcome.started);
    return std::move(outcome);
}

Error TaskService::OtherTask(const Uuid& id) {
    return {Code::kAlreadyExists,
            fmt::format("run {} is there already, and is another task", id.ToString())};
}

}  // namespace ksana::engine
