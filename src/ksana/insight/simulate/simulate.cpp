#include "ksana/insight/simulate/simulate.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "ksana/base/text/utf8.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/insight/simulate/sim_groups.hpp"
#include "ksana/insight/simulate/sim_load.hpp"
#include "ksana/insight/simulate/sim_slots.hpp"
#include "ksana/model/validate.hpp"

namespace ksana::insight {
namespace {

using model::Job;

// More slots than there can be runs.
constexpr std::int64_t kUnlimited = INT64_MAX / 2;

Result<void> Check(const SimulateParams& params) {
    std::vector<Problem> problems;
    const TimePoint earliest = MinTime() + std::chrono::days(2);
    const TimePoint latest = MaxTime() - std::chrono::days(2);
    if (params.from < earliest || params.from > latest) {
        problems.push_back({"/from", "lies outside the years 0000 to 9999"});
    } else if (params.to <= params.from) {
        problems.push_back({"/to", "must be after from"});
    } else if (params.to - params.from > kMaxSimulated) {
        problems.push_back({"/to", "must be at most 400 days after from"});
    } else if (params.to > latest) {
        problems.push_back({"/to", "lies outside the years 0000 to 9999"});
    }
    if (params.slots && *params.slots < 1) problems.push_back({"/slots", "must be at least 1"});
    if (params.default_duration < Duration::zero()) {
        problems.push_back({"/default_duration", "must not be negative"});
    }
    for (const auto& [id, duration] : params.durations) {
        if (duration < Duration::zero()) {
            problems.push_back({"/durations/" + id, "must not be negative"});
        }
    }
    if (!problems.empty()) return Error(std::move(problems));
    return {};
}

struct Loaded {
    std::vector<Job> jobs;  // by id
    bool complete = true;
};

Result<Loaded> LoadJobs(const Sources& sources, const SimulateParams& params) {
    Loaded loaded;
    const std::set<std::string, std::less<>> left_out(params.without.begin(), params.without.end());
    std::map<std::string, Job, std::less<>> changes;
    for (const Job& job : params.changes) changes.emplace(job.id, job);
    const std::size_t most = std::min(params.max_jobs, kMaxSimulatedJobs);
    store::JobQuery query;
    query.limit = store::kMaxPageSize;
    for (bool more = params.stored; more;) {
        KSANA_TRY_VOID(sources.GoOn());
        KSANA_TRY(auto page, sources.store.jobs().List(query));
        for (Job& job : page.items) {
            const auto change = changes.find(job.id);
            if (change == changes.end()) {
                if (!left_out.contains(job.id)) loaded.jobs.push_back(std::move(job));
            } else if (change->second.state.created_at == TimePoint{}) {
                change->second.state.created_at =
                    // An `every` keeps its grid.
                    job.state.created_at;
            }
        }
        query.cursor = page.next;
        more = !query.cursor.empty() && loaded.jobs.size() <= most;
    }
    // The changed jobs go first: they are what the caller asks about.
    const auto stored = loaded.jobs.size();
    for (auto& [id, job] : changes) loaded.jobs.push_back(std::move(job));
    std::ranges::rotate(loaded.jobs, loaded.jobs.begin() + static_cast<std::ptrdiff_t>(stored));
    loaded.complete = loaded.jobs.size() <= most;
    if (!loaded.complete) loaded.jobs.resize(most);
    std::ranges::sort(loaded.jobs, {}, &Job::id);
    return loaded;
}

// Schedules of stored jobs come from the cache; those of changed jobs are compiled.
Result<schedule::Schedule> ScheduleOf(const Sources& sources, const Job& job,
                                      const SimulateParams& params,
                                      const std::set<std::string, std::less<>>& changed) {
    if (!changed.contains(job.id)) return sources.schedules.Of(job);
    const bool fresh = job.state.created_at == TimePoint{};
    return schedule::Schedule::Compile(
        job.schedule, sources.ContextFor(fresh ? params.from : job.state.created_at));
}

// Runs one simulation. For one call; the arguments must outlive it.
class Simulator {
  public:
    Simulator(const Sources& sources, const SimulateParams& params)
        : sources_(sources), params_(params) {}

    Result<Simulation> Run() {
        KSANA_TRY_VOID(Check(params_));
        KSANA_TRY(const Loaded loaded, LoadJobs(sources_, params_));
        simulation_.from = params_.from;
        simulation_.to = params_.to;
        simulation_.complete = loaded.complete;
        KSANA_TRY_VOID(Prepare(loaded.jobs));
        KSANA_TRY_VOID(CheckFires());
        SimResults books{LoadMeter(params_.from, params_.to), SimExamples(params_.examples),
                         params_.to};
        const SimGroups groups(jobs_, sources_);
        const std::vector<SimLinks> links = LinksOf(loaded.jobs);
        if (params_.slots || !links.empty()) {
            KSANA_TRY(const SlotsAnswer answer,
                      groups.SimulateSlots({.from = params_.from,
                                            .slots = params_.slots.value_or(kUnlimited),
                                            .links = links,
                                            .max_fires = params_.max_fires},
                                           books));
            if (params_.slots) simulation_.waits = answer.waits;
            simulation_.complete = simulation_.complete && answer.complete;
        } else {
            KSANA_TRY_VOID(groups.Simulate(params_.from, books));
        }
        groups.AddNotes(params_.from, books);
        simulation_.load = books.load.Take(params_.slots);
        simulation_.examples = books.examples.Take();
        for (const SimJobOutcome& outcome : simulation_.outcomes) {
            simulation_.totals.Add(outcome.counts);
        }
        return std::move(simulation_);
    }

  private:
    Result<void> Prepare(const std::vector<Job>& jobs) {
        SimDurations measured;
        if (params_.measure) {
            KSANA_TRY_VOID(MeasureDurations(sources_.store, jobs, measured));
        }
        std::set<std::string, std::less<>> changed;
        for (const Job& job : params_.changes) changed.insert(job.id);
        simulation_.jobs = static_cast<std::int64_t>(jobs.size());
        simulation_.outcomes.resize(jobs.size());
        jobs_.reserve(jobs.size());
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            SimJobOutcome& outcome = simulation_.outcomes[i];
            Describe(jobs[i], measured, outcome);
            if (outcome.paused) {
                ++simulation_.paused;
                continue;
            }
            auto schedule = ScheduleOf(sources_, jobs[i], params_, changed);
            if (schedule) {
                jobs_.push_back({*std::move(schedule), &outcome});
            } else {
                outcome.error = Printable(Excerpt(schedule.error().Describe(), 400));
                ++simulation_.broken;
            }
        }
        return {};
    }

    // Returns what the jobs have to do with each other; empty: nothing.
    std::vector<SimLinks> LinksOf(const std::vector<Job>& jobs) const {
        std::map<std::string_view, std::size_t> places;
        for (std::size_t i = 0; i < jobs_.size(); ++i) places.emplace(jobs_[i].outcome->id, i);
        std::vector<SimLinks> links(jobs_.size());
        bool any = false;
        for (const Job& job : jobs) {
            const auto place = places.find(job.id);
            if (place == places.end()) continue;
            any |= AddLinks(job, place->second, places, links);
        }
        if (!any) links.clear();
        return links;
    }

    // A job that is paused or left out has no runs: nothing waits for it, and a join that names it
    // does not fire.
    static bool AddLinks(const Job& job, std::size_t own,
                         const std::map<std::string_view, std::size_t>& places,
                         std::vector<SimLinks>& links) {
        SimLinks& link = links[own];
        link.max_wait = job.max_wait;
        for (const model::Dependency& one : job.depends_on) {
            const auto other = places.find(one.job_id);
            if (other == places.end()) continue;
            link.waits_for.push_back(other->second);
            links[other->second].dependants.push_back(own);
        }
        const bool fires = job.schedule.kind == schedule::ScheduleKind::kAfter &&
                           job.schedule.on != schedule::AfterOn::kFailure;
        if (!fires) return !link.waits_for.empty();
        link.each = job.schedule.join == schedule::AfterJoin::kEach;
        link.follows.assign(job.schedule.jobs.size(), own);
        for (const std::string& id : job.schedule.jobs) {
            const auto other = places.find(id);
            if (other != places.end()) links[other->second].followers.push_back(own);
        }
        return true;
    }

    // Counting fires is fast, simulating them is not.
    Result<void> CheckFires() const {
        if (params_.max_fires == 0) return {};
        std::int64_t fires = 0;
        for (const SimJob& job : jobs_) {
            fires += job.schedule.Count(params_.from - kTick, params_.to - kTick);
            if (fires <= params_.max_fires) continue;
            return Error(std::vector<Problem>{
                {"/to",
                 fmt::format("there are more than {} fires until then: choose less time",
                             params_.max_fires),
                 "out_of_range",
                 {}}});
        }
        return {};
    }

    void Describe(const Job& job, const SimDurations& measured, SimJobOutcome& outcome) const {
        outcome.id = job.id;
        outcome.overlap = job.overlap;
        outcome.paused = !job.enabled;
        outcome.duration = params_.default_duration;
        if (const auto given = params_.durations.find(job.id); given != params_.durations.end()) {
            outcome.duration = given->second;
        } else if (const auto found = measured.find(job.id); found != measured.end()) {
            outcome.duration = found->second;
            outcome.measured = true;
        }
    }

    const Sources& sources_;
    const SimulateParams& params_;
    Simulation simulation_;
    std::vector<SimJob> jobs_;  // the jobs that fire; they point into simulation_.outcomes
};

}  // namespace

void SimCounts::Add(const SimCounts& other) {
    fires += other.fires;
    runs += other.runs;
    skipped += other.skipped;
    queued += other.queued;
    cancelled += other.cancelled;
    excluded += other.excluded;
    dst += other.dst;
    unfinished += other.unfinished;
}

Result<void> CheckChanges(const Sources& sources, const SimulateParams& params) {
    std::vector<Problem> problems;
    std::set<std::string, std::less<>> seen;
    for (std::size_t i = 0; i < params.changes.size(); ++i) {
        const Job& job = params.changes[i];
        const std::string path = fmt::format("/changes/{}", i);
        for (Problem& problem : model::ValidateJob(job, sources.ContextFor(params.from))) {
            problem.path = path + problem.path;
            problems.push_back(std::move(problem));
        }
        if (!seen.insert(job.id).second) {
            problems.push_back({path + "/id", "is that of another change", "repeated", {}});
        }
    }
    if (!problems.empty()) return Error(std::move(problems));
    return {};
}

Result<Simulation> Simulate(const Sources& sources, const SimulateParams& params) {
    return Simulator(sources, params).Run();
}

}  // namespace ksana::insight
