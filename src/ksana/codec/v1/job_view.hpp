#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/base/text/json_output.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/schema/schema.hpp"
#include "ksana/model/job/job.hpp"

namespace ksana::codec {

// Returns a job as /api/v1 shows it: its whole definition, and what the server keeps about it
// (version, created_at, next_run_at, last_state, …; a time that is not set is left out).
std::string JobViewToJson(const model::Job& job);

// Reads a definition that a client sends. Members that the server keeps are ignored, so that a copy
// of an answer can be sent back; any other unknown member is refused.
Result<model::JobDefinition> JobFromView(std::string_view text);

// Replaces the definition of a job, which keeps its id and state.
Result<void> ReplaceJob(model::Job& job, model::JobDefinition definition);
// Changes the definition by a merge patch (RFC 7396). A schedule of another kind, or an action of
// another type, replaces the old one as a whole.
Result<void> PatchJob(model::Job& job, std::string_view patch);

struct RunRequest {
    std::string parameters;  // JSON object; empty: none
    bool obeys_overlap = false;
    bool obeys_dependencies = false;
};
struct PauseRequest {
    std::string reason;
};
// The remark of a user who closes a run, holds it or sends it back.
struct RemarkRequest {
    std::string remark;
};
// Which finished runs to delete.
struct PurgeRequest {
    TimePoint finished_before{};
    model::RunStates states =
        static_cast<model::RunStates>(model::kAllStates & ~model::kUnfinishedStates);
    bool dry_run = false;  // only counts them
};
// Which jobs to change, and why. Without any filter, `all` must be true.
struct BulkRequest {
    std::string tenant;
    std::string group;
    std::string owner;
    std::optional<model::ActionKind> type;
    std::string queue_type;
    TextMap labels;
    std::string q;
    bool all = false;
    std::string reason;
};

// Read the bodies of the verbs. An empty body means the defaults.
Result<RunRequest> RunRequestFromJson(std::string_view text);
Result<PauseRequest> PauseRequestFromJson(std::string_view text);
Result<RemarkRequest> RemarkRequestFromJson(std::string_view text);
Result<BulkRequest> BulkRequestFromJson(std::string_view text);
// Has no defaults: the request must say what to delete.
Result<PurgeRequest> PurgeRequestFromJson(std::string_view text);
// Checks the body of a verb that takes none: empty, or an object without members.
Result<void> CheckEmptyBody(std::string_view text);

void ReadJob(JsonReader& reader, const Node& node, model::JobDefinition& job);
void WriteJob(JsonOutput& output, const model::JobDefinition& job);

void ReadSchedule(JsonReader& reader, const Node& node, schedule::ScheduleSpec& spec);

// Schemas of the views and bodies above.
extern const NamedSchema kJobDefinitionSchema;
extern const NamedSchema kJobPatchSchema;
extern const NamedSchema kJobSchema;
extern const NamedSchema kRunRequestSchema;
extern const NamedSchema kPauseRequestSchema;
extern const NamedSchema kRemarkRequestSchema;
extern const NamedSchema kPurgeRequestSchema;
extern const NamedSchema kBulkRequestSchema;
extern const NamedSchema kNothingSchema;  // no body, or an object without members

}  // namespace ksana::codec
