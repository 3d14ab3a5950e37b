#include "ksana/store_kit/jobs/job_edges.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ksana::store_kit {
namespace {

using model::Job;
using Strings = std::vector<std::string>;

// The document whose lock serialises transactions that add edges. It is never stored.
constexpr const char* kEdgeKind = "edges";
constexpr const char* kEdgeKey = "jobs";

// The most unfinished runs of a job that are told to announce their end when another job first
// names it; the rest is found by the reaper.
constexpr std::size_t kMaxWatched = 10'000;

// Calls `visit` with the path and the id of every job that the job names.
template <class F>
void EachEdge(const Job& job, const F& visit) {
    for (std::size_t i = 0; i < job.depends_on.size(); ++i) {
        visit(fmt::format("/depends_on/{}/job", i), job.depends_on[i].job_id);
    }
    for (std::size_t i = 0; i < job.schedule.jobs.size(); ++i) {
        visit(fmt::format("/schedule/jobs/{}", i), job.schedule.jobs[i]);
    }
}

const Job* Find(const std::map<std::string, Job>& jobs, const std::string& id) {
    const auto found = jobs.find(id);
    return found == jobs.end() ? nullptr : &found->second;
}

}  // namespace

Result<std::set<std::string>> JobEdges::Begin(const std::vector<store::JobWrite>& writes) {
    std::set<std::string> ids;
    bool plain = true;  // nothing but new jobs without edges
    for (const store::JobWrite& write : writes) {
        ids.insert(write.job.id);
        plain &= write.mode == store::WriteMode::kCreate && model::ParentsOf(write.job).empty();
    }
    if (plain) return ids;
    KSANA_TRY(const std::vector<Job> stored, tx_.Jobs({ids.begin(), ids.end()}));
    for (const Job& job : stored) {
        Strings parents = model::ParentsOf(job);
        if (!parents.empty()) before_.emplace(job.id, std::move(parents));
    }
    std::set<std::string> all = ids;
    bool adds = false;
    for (const store::JobWrite& write : writes) {
        const Strings parents = model::ParentsOf(write.job);
        const auto before = before_.find(write.job.id);
        if (parents == (before == before_.end() ? Strings{} : before->second)) continue;
        adds |= !parents.empty();
        all.insert(parents.begin(), parents.end());
        if (before != before_.end()) all.insert(before->second.begin(), before->second.end());
    }
    if (adds) {
        KSANA_TRY_VOID(tx_.LockDocument(kEdgeKind, kEdgeKey));
        locked_ = true;
    }
    return all;
}

Result<std::set<std::string>> JobEdges::BeginDelete(const std::string& id) {
    KSANA_TRY(const std::vector<Job> stored, tx_.Jobs({id}));
    std::set<std::string> all = {id};
    for (const Job& job : stored) {
        const Strings parents = model::ParentsOf(job);
        touched_.insert(parents.begin(), parents.end());
    }
    all.insert(touched_.begin(), touched_.end());
    return all;
}

Result<void> JobEdges::Accept(const Job& job, const Jobs& stored) {
    const Job* const before = Find(stored, job.id);
    const Strings old = before == nullptr ? Strings{} : model::ParentsOf(*before);
    const Strings parents = model::ParentsOf(job);
    if (parents != old) {
        const auto read = before_.find(job.id);
        const bool as_read = old == (read == before_.end() ? Strings{} : read->second);
        if (!as_read || (!locked_ && !parents.empty())) {
            return Error(Code::kConflict, "the job's dependencies were changed meanwhile");
        }
        KSANA_TRY_VOID(CheckParents(job, before, stored));
        const bool named = named_.contains(job.id) || (before && before->state.dependants > 0);
        if (named) KSANA_TRY_VOID(CheckCycle(job));
        touched_.insert(old.begin(), old.end());
        touched_.insert(parents.begin(), parents.end());
    }
    named_.insert(parents.begin(), parents.end());
    accepted_[job.id] = parents;
    return {};
}

Result<void> JobEdges::CheckParents(const Job& job, const Job* before, const Jobs& stored) const {
    const Strings old = before == nullptr ? Strings{} : model::ParentsOf(*before);
    std::vector<Problem> problems;
    EachEdge(job, [&](std::string path, const std::string& id) {
        const Job* const parent = Find(stored, id);
        if (parent == nullptr && !accepted_.contains(id)) {
            problems.push_back({std::move(path), fmt::format("there is no job \"{}\"", id)});
            return;
        }
        const bool fresh = !std::ranges::binary_search(old, id);
        const auto most = static_cast<std::int32_t>(model::kMaxDependants);
        if (fresh && parent != nullptr && parent->state.dependants >= most) {
            problems.push_back(
                {std::move(path), fmt::format("is named by {} jobs, which is the most", most)});
        }
    });
    if (!problems.empty()) return Error(std::move(problems));
    return {};
}

// Walks from the job to those that it names, and on. Every job is visited once, so a chain of any
// length takes time in proportion to it; a job that no other names cannot close a cycle and is not
// checked at all.
Result<void> JobEdges::CheckCycle(const Job& job) {
    std::map<std::string, std::string> reached_from;
    Strings open = model::ParentsOf(job);
    for (const std::string& parent : open) reached_from.emplace(parent, job.id);
    while (!open.empty()) {
        const std::string id = std::move(open.back());
        open.pop_back();
        if (id == job.id) {
            Strings way = {job.id};
            for (std::string at = reached_from.at(id); at != job.id; at = reached_from.at(at)) {
                way.push_back(at);
            }
            way.push_back(job.id);
            std::ranges::reverse(way);
            std::string path = "/depends_on";
            EachEdge(job, [&](std::string of_edge, const std::string& parent) {
                if (parent == way[1]) path = std::move(of_edge);
            });
            constexpr std::ptrdiff_t kEnds = 5;  // of a long way only both ends are told
            if (std::ssize(way) > 2 * kEnds + 1) {
                way.erase(way.begin() + kEnds, way.end() - kEnds);
                way.insert(way.begin() + kEnds, "…");
            }
            return Error(std::vector<Problem>{
                {path, fmt::format("makes a cycle: {}", fmt::join(way, " needs "))}});
        }
        KSANA_TRY(const Strings parents, ParentsNow(id));
        for (const std::string& parent : parents) {
            if (reached_from.emplace(parent, id).second) open.push_back(parent);
        }
    }
    return {};
}

Result<Strings> JobEdges::ParentsNow(const std::string& id) {
    if (const auto written = accepted_.find(id); written != accepted_.end()) return written->second;
    KSANA_TRY(const std::vector<Job> jobs, tx_.Jobs({id}));
    return jobs.empty() ? Strings{} : model::ParentsOf(jobs.front());
}

Result<void> JobEdges::End(const Jobs& stored) {
    std::vector<Job> changed;
    for (const std::string& id : touched_) {
        KSANA_TRY(const Strings dependants, tx_.DependantsOf(id));
        const auto count = static_cast<std::int32_t>(dependants.size());
        const Job* const parent = Find(stored, id);
        const std::int32_t before = parent == nullptr ? 0 : parent->state.dependants;
        if (count == before) continue;
        Job job;
        job.id = id;
        job.state.dependants = count;
        changed.push_back(std::move(job));
        if (before == 0) KSANA_TRY_VOID(Watch(id));
    }
    return changed.empty() ? Result<void>() : tx_.UpdateDependants(changed);
}

// A held run ends when a person decides.
Result<std::vector<model::Run>> JobEdges::LockHeld(const std::string& id) {
    RunList list{.limit = kMaxWatched};
    list.filter.job_id = id;
    list.filter.states = model::SetOf(model::RunState::kHeld);
    KSANA_TRY(const ListedRuns held, tx_.ListRuns(list));
    if (held.rows.empty()) return std::vector<model::Run>();
    std::vector<Uuid> ids;
    for (const model::Run& run : held.rows) ids.push_back(run.id);
    std::ranges::sort(ids);
    KSANA_TRY(std::vector<model::Run> runs, tx_.LockRuns(ids));
    std::erase_if(runs, [](const model::Run& run) { return model::IsFinal(run.status.state); });
    return runs;
}

Result<void> JobEdges::Watch(const std::string& id) {
    KSANA_TRY(std::vector<model::Run> runs, tx_.LockGated(id));
    KSANA_TRY(std::vector<model::Run> unstarted, tx_.LockUnstarted(id, kMaxWatched));
    std::ranges::move(unstarted, std::back_inserter(runs));
    KSANA_TRY(std::vector<model::Run> held, LockHeld(id));
    std::ranges::move(held, std::back_inserter(runs));
    std::ranges::sort(runs, {}, &model::Run::id);
    const auto rest = std::ranges::unique(runs, {}, &model::Run::id);
    runs.erase(rest.begin(), rest.end());
    for (model::Run& run : runs) run.status.watched = true;
    return runs.empty() ? Result<void>() : tx_.UpdateRuns(RefsTo(runs));
}

Result<void> CountDependants(Transaction& tx, const std::vector<Job>& jobs) {
    std::set<std::string> ids;
    for (const Job& job : jobs) {
        // A record that other records name says so, wherever they are in the export.
        if (job.state.dependants > 0) ids.insert(job.id);
        for (std::string& parent : model::ParentsOf(job)) ids.insert(std::move(parent));
    }
    std::vector<Job> counted;
    for (const std::string& id : ids) {
        KSANA_TRY(const Strings dependants, tx.DependantsOf(id));
        Job job;
        job.id = id;
        job.state.dependants = static_cast<std::int32_t>(dependants.size());
        counted.push_back(std::move(job));
    }
    return counted.empty() ? Result<void>() : tx.UpdateDependants(counted);
}

}  // namespace ksana::store_kit
