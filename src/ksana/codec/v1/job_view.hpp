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

// A job as /api/v1 shows it: its whole definition, and what the server keeps about it (version,
// created_at, next_run_at, last_state, …; a time that is not there is left out).
std::string JobViewToJson(const model::Job& job);

// A definition that a client sends. What the server keeps may stand in it, as in a copy of an
// answer, and is not looked at; any other unknown member is refused.
Result<model::JobDefinition> JobFromView(std::string_view text);

// Puts a definition in the place of the job's, which keeps its id and its state.
Result<void> ReplaceJob(model::Job& job, model::JobDefinition definition);
// The same as a merge patch (RFC 7396) says. A schedule of another kind, and an action of another
// type, take the place of the old one as a whole.
Result<void> PatchJob(model::Job& job, std::string_view patch);

struct RunRequest {
    std::string parameters;  // JSON object; empty: none
    bool obeys_overlap = false;
};
struct PauseRequest {
    std::string reason;
};
// What a person says who closes a run, holds it or sends it back.
struct RemarkRequest {
    std::string remark;
};
// Which runs are to be deleted. All of these are over.
struct PurgeRequest {
    TimePoint finished_before{};
    model::RunStates states =
        static_cast<model::RunStates>(model::kAllStates & ~model::kUnfinishedStates);
    bool dry_run = false;  // only says how many there are
};
// Which jobs, and why. `all` must be said where nothing else narrows them down.
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

// Bodies of the verbs. An empty one means the defaults.
Result<RunRequest> RunRequestFromJson(std::string_view text);
Result<PauseRequest> PauseRequestFromJson(std::string_view text);
Result<RemarkRequest> RemarkRequestFromJson(std::string_view text);
Result<BulkRequest> BulkRequestFromJson(std::string_view text);
// This one has no defaults: what is deleted must be said.
Result<PurgeRequest> PurgeRequestFromJson(std::string_view text);
// For verbs that need no body: none, or an object without members.
Result<void> CheckEmptyBody(std::string_view text);

void ReadJob(JsonReader& reader, const Node& node, model::JobDefinition& job);
void WriteJob(JsonOutput& output, const model::JobDefinition& job);

void ReadSchedule(JsonReader& reader, const Node& node, schedule::ScheduleSpec& spec);

// Of the views and bodies above.
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
