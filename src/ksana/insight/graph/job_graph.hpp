#pragma once

#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/schema/schema.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/store/store.hpp"

namespace ksana::insight {

inline constexpr std::size_t kMaxGraphNodes = 1'000;

struct GraphNode {
    std::string id;
    std::string name;
    bool enabled = true;
    schedule::ScheduleKind schedule = schedule::ScheduleKind::kOnce;
    std::optional<model::RunState> last_state;
    friend bool operator==(const GraphNode&, const GraphNode&) = default;
};

enum class EdgeKind : std::uint8_t { kDependsOn, kAfter };

// `to` depends on `from`, or fires after it.
struct GraphEdge {
    std::string from;
    std::string to;
    EdgeKind kind = EdgeKind::kDependsOn;
    std::optional<model::OnDependencyFailure> on_failure;  // of kDependsOn
    std::optional<schedule::AfterOn> on;                   // of kAfter
    std::optional<schedule::AfterJoin> join;               // of kAfter
    friend bool operator==(const GraphEdge&, const GraphEdge&) = default;
};

// The jobs that depend on each other or follow each other.
struct JobGraph {
    std::vector<GraphNode> jobs;   // by id
    std::vector<GraphEdge> edges;  // between these; by `to`, then in the order of its definition
    bool complete = true;          // false: there are more jobs than the limit
};

// Returns the graph of all jobs that have edges, or, with a job id, of the jobs that this one needs
// and of those that need it, over all steps. kNotFound: there is no such job. Reads the store only.
// Thread-safe.
Result<JobGraph> GraphOf(store::Store& store, const std::string& job_id, std::size_t limit);

std::string JobGraphToJson(const JobGraph& graph);
extern const codec::NamedSchema kJobGraphSchema;

}  // namespace ksana::insight

template <>
struct ksana::model::EnumNames<ksana::insight::EdgeKind> {
    static constexpr std::array<std::string_view, 2> kNames = {"depends_on", "after"};
};
