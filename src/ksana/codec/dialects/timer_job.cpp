#include "ksana/codec/dialects/timer_job.hpp"

#include <boost/json/object.hpp>

#include "ksana/codec/dialects/timer_job_fields.hpp"
#include "ksana/codec/json/json_parse.hpp"
#include "ksana/codec/json/merge_patch.hpp"

namespace ksana::codec {

namespace json = boost::json;
using model::Job;

namespace {

// Members that the server keeps and clients cannot set.
constexpr std::string_view kKeptOfTimer[] = {"last_run_at", "next_run_at", "last_status",
                                             "last_error"};

// The job as JSON values, to be changed member by member.
Result<json::value> ValueOf(const Job& job) {
    JsonOutput output;
    WriteTimerJob(output, job);
    const std::string text = output.Take();
    return ParseJson(text, LimitsOfStoredJson(text));
}

Result<Job> ReadOne(const json::value& value) {
    JsonReader reader(JsonForm::kJobsFile);
    Job job;
    ReadTimerJob(reader, Node{value, ""}, job);
    if (!reader.Clean()) return reader.TakeError();
    return job;
}

}  // namespace

std::string TimerJobToJson(const Job& job, const model::PolicyDefaults& defaults) {
    JsonOutput output;
    WriteTimerJob(output, job, &defaults);
    return output.Take();
}

std::string TimerJobsToJson(std::span<const Job> jobs, const model::PolicyDefaults& defaults) {
    JsonOutput output;
    output.BeginArray();
    for (const Job& job : jobs) WriteTimerJob(output, job, &defaults);
    output.EndArray();
    return output.Take();
}

Result<Job> TimerJobFromJson(std::string_view text) {
    KSANA_TRY(json::value value, ParseJson(text));
    if (json::object* const object = value.if_object()) {
        for (const std::string_view key : kKeptOfTimer) object->erase(key);
    }
    return ReadOne(value);
}

Result<void> PatchTimerJob(Job& job, std::string_view patch) {
    KSANA_TRY(json::value changes, ParseJson(patch));
    json::object* const object = changes.if_object();
    if (object == nullptr) return Error(std::vector<Problem>{{"", "must be an object"}});
    for (const std::string_view key : kKeptOfTimer) object->erase(key);
    if (object->contains("id") && TextAt(*object, "id") != job.id) {
        return Error(std::vector<Problem>{{"/id", "cannot be changed"}});
    }
    KSANA_TRY(json::value merged, ValueOf(job));
    for (const std::string_view key : kKeptOfTimer) merged.as_object().erase(key);
    DropReplacedParts(merged.as_object(), *object);
    MergePatch(merged, changes);
    KSANA_TRY(Job changed, ReadOne(merged));
    job.definition() = std::move(changed.definition());
    return {};
}

Result<std::string> RunParametersFromJson(std::string_view text) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return std::string();
    KSANA_TRY(const json::value value, ParseJson(text));
    if (!value.is_object()) {
        return Error(std::vector<Problem>{{"", "must be an object of parameters"}});
    }
    if (value.get_object().empty()) return std::string();
    return WriteJson(value);
}

}  // namespace ksana::codec
