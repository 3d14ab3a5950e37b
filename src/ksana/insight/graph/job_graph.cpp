#include "ksana/insight/graph/job_graph.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "ksana/codec/json/value_writer.hpp"
#include "ksana/codec/schema/field_schema.hpp"
#include "ksana/model/job/dependency.hpp"

namespace ksana::codec {

template <>
struct FieldsOf<insight::GraphNode> {
    static constexpr SchemaDoc kSchema{.means = "A job.", .answer = true};
    using Node = insight::GraphNode;

    template <class V>
    static void Visit(V& v) {
        v("id", &Node::id, "Id of the job.");
        v("name", &Node::name, "What people call it.");
        v("enabled", &Node::enabled, "false: it is paused.");
        v("schedule", &Node::schedule, "Kind of its schedule.");
        v("last_state", &Node::last_state, "How its last run ended.");
    }
};

template <>
struct FieldsOf<insight::GraphEdge> {
    static constexpr SchemaDoc kSchema{.means = "One job needs another.", .answer = true};
    using Edge = insight::GraphEdge;

    template <class V>
    static void Visit(V& v) {
        v("from", &Edge::from, "The job that is needed.");
        v("to", &Edge::to, "The job that needs it.");
        v("kind", &Edge::kind, "Whether it waits for it (depends_on) or fires after it.");
        v("on_failure", &Edge::on_failure, "Of depends_on.");
        v("on", &Edge::on, "Of after.");
        v("join", &Edge::join, "Of after.");
    }
};

template <>
struct FieldsOf<insight::JobGraph> {
    static constexpr SchemaDoc kSchema{
        .name = "JobGraph",
        .means = "The jobs that depend on each other or follow each other.",
        .answer = true};
    using Graph = insight::JobGraph;

    template <class V>
    static void Visit(V& v) {
        v("jobs", &Graph::jobs, "By id.");
        v("edges", &Graph::edges, "Between these jobs.");
        v("complete", &Graph::complete, "false: there are more jobs than the limit.");
    }
};

}  // namespace ksana::codec

namespace ksana::insight {
namespace {

using model::Job;
using Jobs = std::map<std::string, Job>;

// The most jobs that are read to find those with edges.
constexpr std::size_t kMaxRead = 100'000;

void AddEdges(const Job& job, const Jobs& jobs, JobGraph& graph) {
    for (const model::Dependency& one : job.depends_on) {
        if (!jobs.contains(one.job_id)) continue;
        graph.edges.push_back(
            {one.job_id, job.id, EdgeKind::kDependsOn, one.on_failure, std::nullopt, std::nullopt});
    }
    for (const std::string& parent : job.schedule.jobs) {
        if (!jobs.contains(parent)) continue;
        graph.edges.push_back(
            {parent, job.id, EdgeKind::kAfter, std::nullopt, job.schedule.on, job.schedule.join});
    }
}

JobGraph Draw(const Jobs& jobs, bool complete) {
    JobGraph graph;
    graph.complete = complete;
    for (const auto& [id, job] : jobs) {
        graph.jobs.push_back({id, job.name, job.enabled, job.schedule.kind, job.state.last_state});
        AddEdges(job, jobs, graph);
    }
    return graph;
}

Result<void> Load(store::Store& store, const std::set<std::string>& ids, Jobs& jobs) {
    KSANA_TRY(std::vector<Job> found, store.jobs().GetMany({ids.begin(), ids.end()}));
    for (Job& job : found) {
        std::string id = job.id;
        jobs.insert_or_assign(std::move(id), std::move(job));
    }
    return {};
}

// Walks in one direction until there is nothing new or the limit is reached.
Result<bool> Walk(store::Store& store, const Job& from, bool up, std::size_t limit, Jobs& jobs) {
    std::vector<Job> open = {from};
    std::set<std::string> seen = {from.id};
    while (!open.empty()) {
        std::set<std::string> next;
        for (const Job& job : open) {
            if (up) {
                const auto parents = model::ParentsOf(job);
                next.insert(parents.begin(), parents.end());
            } else if (job.state.dependants > 0) {
                KSANA_TRY(const auto children, store.jobs().Dependants(job.id));
                next.insert(children.begin(), children.end());
            }
        }
        std::erase_if(next, [&](const std::string& id) { return !seen.insert(id).second; });
        const std::size_t room = limit - std::min(limit, jobs.size());
        const bool cut = next.size() > room;
        while (next.size() > room) next.erase(std::prev(next.end()));
        Jobs loaded;
        if (!next.empty()) KSANA_TRY_VOID(Load(store, next, loaded));
        open.clear();
        for (auto& [id, job] : loaded) open.push_back(job);
        jobs.merge(loaded);
        if (cut) return false;
    }
    return true;
}

Result<JobGraph> All(store::Store& store, std::size_t limit) {
    Jobs jobs;
    bool complete = true;
    store::JobQuery query;
    query.limit = store::kMaxPageSize;
    std::size_t read = 0;
    do {
        KSANA_TRY(auto page, store.jobs().List(query));
        read += page.items.size();
        for (Job& job : page.items) {
            const bool linked = job.state.dependants > 0 || !model::ParentsOf(job).empty();
            if (!linked) continue;
            if (jobs.size() == limit) return Draw(jobs, false);
            std::string id = job.id;
            jobs.insert_or_assign(std::move(id), std::move(job));
        }
        query.cursor = page.next;
        complete = query.cursor.empty();
    } while (!complete && read < kMaxRead);
    return Draw(jobs, complete);
}

}  // namespace

Result<JobGraph> GraphOf(store::Store& store, const std::string& job_id, std::size_t limit) {
    if (job_id.empty()) return All(store, limit);
    KSANA_TRY(const Job job, store.jobs().Get(job_id));
    Jobs jobs;
    jobs.emplace(job.id, job);
    KSANA_TRY(const bool up, Walk(store, job, true, limit, jobs));
    KSANA_TRY(const bool down, Walk(store, job, false, limit, jobs));
    return Draw(jobs, up && down);
}

std::string JobGraphToJson(const JobGraph& graph) {
    return codec::FieldsToJson(graph, codec::JsonForm::kDefinition);
}

const codec::NamedSchema kJobGraphSchema = codec::kSchemaOf<JobGraph>;

}  // namespace ksana::insight
