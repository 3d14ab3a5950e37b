#include "sim/sim_graph.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/time/time_text.hpp"

namespace ksana::sim {

using model::Job;
using model::Run;
using model::RunState;
using schedule::AfterJoin;
using schedule::AfterOn;
using schedule::ScheduleKind;

namespace {

// How many runs of a job that took place are looked at to find the latest one.
constexpr int kLooked = 100;
// Behind so many others the counters of the job answer (dependency_gate.cpp); these are not known.
constexpr int kFar = 1'000;

bool TookPlace(RunState state) { return state != RunState::kSkipped && state != RunState::kMissed; }

bool IsSuccess(RunState state) {
    return state == RunState::kSucceeded || state == RunState::kCompleting ||
           state == RunState::kResolved;
}

bool IsFailure(RunState state) {
    return state == RunState::kFailed || state == RunState::kTimedOut ||
           state == RunState::kCancelled || state == RunState::kHeld;
}

bool IsOver(RunState state) { return model::IsFinal(state) || state == RunState::kCompleting; }

bool Awaits(const Run& run) {
    return run.status.state == RunState::kQueued && run.status.blocked && run.status.wait_until;
}

}  // namespace

void GraphChecks::Fail(const Run& run, std::string what) {
    world_.Fail({.invariant = "I9",
                 .what = std::move(what),
                 .job_id = StoryOf(run),
                 .run_id = run.id.ToString()});
}

// A decision follows from what was there before the commit, or from the commit itself: its order is
// not known, so both are allowed.
void GraphChecks::OnCommit(const Commit& commit) {
    ended_.clear();
    for (const Job& job : commit.jobs_inserted) jobs_[job.id] = job;
    std::vector<Answer> free;
    for (const Commit::RunChange& change : commit.runs) {
        free.push_back(change.run.policy.depends ? MayPass(change.run.job_id) : Answer());
    }
    std::vector<Known> before;
    for (const Commit::RunChange& change : commit.runs) {
        before.push_back(runs_[change.run.id]);
        if (change.how != Commit::How::kDeleted) {
            Change(change.run);
            NoteFree(commit, change.run.job_id, free);
            continue;
        }
        forgetful_.insert(before.back().job_id);
        of_job_[before.back().job_id].erase(change.run.id);
        runs_.erase(change.run.id);
        awaiting_.erase(change.run.id);
    }
    for (std::size_t n = 0; n < before.size(); ++n) {
        const Run& run = commit.runs[n].run;
        if (commit.runs[n].how == Commit::How::kDeleted || !run.policy.depends) continue;
        CheckPass(run, before[n], free[n]);
        CheckSkip(run, before[n], free[n]);
    }
    ExpectFires(commit);
    for (const Job& job : commit.jobs_updated) {
        if (jobs_[job.id].schedule != job.schedule) arrived_.erase(job.id);
        jobs_[job.id] = job;
    }
    for (const Commit::JobPlanned& planned : commit.jobs_planned) {
        jobs_[planned.id].state.next_run_at = planned.next_run_at;
    }
    for (const std::string& id : commit.jobs_deleted) {
        jobs_.erase(id);
        arrived_.erase(id);
    }
    if (commit.purged_before) Purge(*commit.purged_before);
}

// A run may have been let through at any step of the commit: an end that it contains may have been
// the latest one before the next run of the same job was made.
void GraphChecks::NoteFree(const Commit& commit, const std::string& parent,
                           std::vector<Answer>& free) {
    for (std::size_t n = 0; n < free.size(); ++n) {
        if (free[n] != Answer(false)) continue;
        const auto job = jobs_.find(commit.runs[n].run.job_id);
        const bool concerned =
            job != jobs_.end() && std::ranges::any_of(job->second.depends_on, [&](const auto& one) {
                return one.job_id == parent;
            });
        if (concerned) free[n] = MayPass(job->first);
    }
}

void GraphChecks::Change(const Run& run) {
    Known& known = runs_[run.id];
    const bool ends = !IsOver(known.state) && IsOver(run.status.state);
    known.job_id = run.job_id;
    known.created_at = run.created_at;
    known.state = run.status.state;
    known.finished_at = run.status.finished_at;
    known.wait_until = run.status.wait_until;
    if (!run.job_id.empty()) of_job_[run.job_id].insert(run.id);
    if (Awaits(run) && !known.awaits) ++waits_;
    known.awaits = Awaits(run);
    if (known.awaits) {
        awaiting_.insert(run.id);
    } else {
        awaiting_.erase(run.id);
    }
    if (ends && TookPlace(run.status.state)) {
        ended_.push_back({run.job_id, run.status.state});
    }
}

void GraphChecks::Purge(TimePoint before) {
    std::erase_if(runs_, [&](const auto& entry) {
        const Known& known = entry.second;
        const bool gone = known.finished_at && *known.finished_at < before;
        if (gone) of_job_[known.job_id].erase(entry.first);
        if (gone) forgetful_.insert(known.job_id);
        return gone;
    });
}

// A run goes on when it is released, or when it starts without having been released.
void GraphChecks::CheckPass(const Run& run, const Known& before, Answer was_free) {
    const bool released = before.awaits && !Awaits(run) && run.status.state == RunState::kQueued;
    const bool starts = run.status.state == RunState::kRunning && run.status.attempt == 1 &&
                        before.state != RunState::kRunning;
    Known& known = runs_[run.id];
    if (before.passed) known.passed = true;
    if (known.passed || !(released || starts)) return;
    known.passed = true;
    if (was_free != Answer(false) || MayPass(run.job_id) != Answer(false)) return;
    std::string others;
    for (const model::Dependency& one : jobs_.at(run.job_id).depends_on) {
        others += fmt::format(" {} ({}):", one.job_id, model::NameOf(one.on_failure));
        for (const Uuid& id : of_job_[one.job_id]) {
            others += fmt::format(" {} {}", FormatTime(runs_.at(id).created_at),
                                  model::NameOf(runs_.at(id).state));
        }
    }
    Fail(run, "a fire went on although a job that it depends on has not succeeded:" + others);
}

void GraphChecks::CheckSkip(const Run& run, const Known& before, Answer was_free) {
    const bool skipped =
        run.status.skip_reason == model::SkipReason::kDependency && !IsOver(before.state);
    if (!skipped || IsDue(run.job_id)) return;
    if (was_free != Answer(true) || MayPass(run.job_id) != Answer(true)) return;
    Fail(run, "a fire was skipped although all that it depends on has succeeded");
}

void GraphChecks::CheckFinal() {
    const TimePoint now = world_.store_clock().Now();
    for (const Uuid& id : awaiting_) {
        const Known& known = runs_.at(id);
        if (*known.wait_until > now - std::chrono::minutes(1)) continue;
        Run run;
        run.id = id;
        run.job_id = known.job_id;
        Fail(run, fmt::format("a fire waits for other jobs since long after {}: it was forgotten",
                              FormatTime(*known.wait_until)));
    }
}

GraphChecks::Answer GraphChecks::MayPass(const std::string& job_id) const {
    const auto job = jobs_.find(job_id);
    if (job == jobs_.end() || world_.store_clock_was_set()) return std::nullopt;
    Answer all = true;
    for (const model::Dependency& one : job->second.depends_on) {
        const Answer lets = Lets(one);
        if (lets == Answer(false)) return false;
        if (!lets) all.reset();
    }
    return all;
}

// Asks the runs that were made last and took place. Those of one moment have no order.
GraphChecks::Answer GraphChecks::Lets(const model::Dependency& one) const {
    const auto parent = jobs_.find(one.job_id);
    if (parent == jobs_.end() || parent->second.run_log == model::RunLog::kNone) return {};
    std::optional<TimePoint> latest;
    int yes = 0;
    int no = 0;
    if (const auto runs = of_job_.find(one.job_id); runs != of_job_.end()) {
        // Ids rise with time but for the clocks of nodes, which are some seconds apart.
        int looked = 0;
        int passed = 0;
        for (auto id = runs->second.rbegin(); id != runs->second.rend() && looked < kLooked; ++id) {
            const Known& known = runs_.at(*id);
            if (++passed > kFar && !latest) return {};
            if (!TookPlace(known.state)) continue;
            ++looked;
            if (latest && known.created_at < *latest) continue;
            if (!latest || known.created_at > *latest) yes = no = 0;
            latest = known.created_at;
            const bool failed_well =
                IsFailure(known.state) && one.on_failure == model::OnDependencyFailure::kRun;
            (IsSuccess(known.state) || failed_well ? yes : no) += 1;
        }
    }
    if (!latest) return forgetful_.contains(one.job_id) ? Answer() : Answer(false);
    if (yes > 0 && no > 0) return {};
    return yes > 0;
}

// Returns whether a fire of a job that this one depends on is due and not a run yet: it counts.
bool GraphChecks::IsDue(const std::string& job_id) const {
    const auto job = jobs_.find(job_id);
    if (job == jobs_.end()) return false;
    return std::ranges::any_of(job->second.depends_on, [&](const model::Dependency& one) {
        const auto parent = jobs_.find(one.job_id);
        return parent != jobs_.end() && parent->second.enabled &&
               parent->second.state.next_run_at.value_or(TimePoint::max()) <=
                   world_.store_clock().Now();
    });
}

void GraphChecks::Expect(const std::string& child, const Ended& ended,
                         std::map<std::string, int>& expected) {
    const Job& job = jobs_.at(child);
    const schedule::ScheduleSpec& spec = job.schedule;
    const bool named = spec.kind == ScheduleKind::kAfter &&
                       std::ranges::find(spec.jobs, ended.job_id) != spec.jobs.end();
    const bool success = IsSuccess(ended.state);
    const bool counts = spec.on == AfterOn::kAny || success == (spec.on == AfterOn::kSuccess);
    if (!named || !counts) return;
    if (spec.join == AfterJoin::kAll && spec.jobs.size() > 1) {
        std::set<std::string>& arrived = arrived_[child];
        arrived.insert(ended.job_id);
        if (arrived.size() < spec.jobs.size()) return;
        arrived.clear();
    }
    ++expected[child];
}

// Compares the fires of this commit with those that the ends in it should have made. A fire near
// the bounds of a schedule may have moved over them, so jobs with bounds are not counted.
void GraphChecks::ExpectFires(const Commit& commit) {
    if (ended_.empty() && commit.jobs_planned.empty()) return;  // no fire can follow
    std::map<std::string, int> expected;
    for (const Ended& ended : ended_) {
        for (const auto& [id, job] : jobs_) Expect(id, ended, expected);
    }
    std::map<std::string, int> made;
    for (const Commit::RunChange& change : commit.runs) {
        if (change.how != Commit::How::kInserted || !change.run.nominal_at) continue;
        ++made[change.run.job_id];
    }
    for (const model::LedgerEntry& entry : commit.ledger) {
        if (entry.range.fate == model::FireFate::kSkippedPaused) ++made[entry.job_id];
    }
    for (const auto& [id, job] : jobs_) {
        if (job.schedule.kind != ScheduleKind::kAfter) continue;
        const int wanted = expected[id];
        follows_ += made[id];
        if (job.schedule.start_at || job.schedule.end_at || made[id] == wanted) continue;
        Run run;
        run.job_id = id;
        Fail(run,
             fmt::format("{} fires follow the ends of other jobs' runs, and there should be {}",
                         made[id], wanted));
    }
}

}  // namespace ksana::sim
