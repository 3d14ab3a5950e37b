#include "ksana/codec/timer_job.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "ksana/codec/json_parse.hpp"
#include "ksana/codec/json_write.hpp"
#include "ksana/codec/merge_patch.hpp"
#include "ksana/codec/timer_job_fields.hpp"

namespace ksana::codec {

namespace json = boost::json;
using model::Job;

namespace {

// Kept by the service, and not for a client to say.
constexpr std::string_view kKept[] = {"last_run_at", "next_run_at", "last_status", "last_error"};

// With the policies that hold; what the job itself says is left alone.
json::object WithDefaults(const Job& job, const model::PolicyDefaults& defaults) {
    Job shown = job;
    if (!shown.timeout) shown.timeout = defaults.timeout;
    if (!shown.retry) shown.retry = defaults.retry;
    return TimerJobObject(shown);
}

Result<Job> ReadOne(const json::value& value) {
    JsonReader reader(JsonForm::kJobsFile);
    Job job;
    ReadTimerJob(reader, Node{value, ""}, job);
    if (!reader.Clean()) return Error(reader.TakeProblems());
    return job;
}

}  // namespace

std::string TimerJobToJson(const Job& job, const model::PolicyDefaults& defaults) {
    return WriteJson(WithDefaults(job, defaults));
}

std::string TimerJobsToJson(std::span<const Job> jobs, const model::PolicyDefaults& defaults) {
    json::array array;
    array.reserve(jobs.size());
    for (const Job& job : jobs) array.emplace_back(WithDefaults(job, defaults));
    return WriteJson(array);
}

Result<Job> TimerJobFromJson(std::string_view text) {
    KSANA_TRY(json::value value, ParseJson(text));
    if (json::object* const object = value.if_object()) {
        for (const std::string_view key : kKept) object->erase(key);
    }
    return ReadOne(value);
}

Result<void> PatchTimerJob(Job& job, std::string_view patch) {
    KSANA_TRY(json::value changes, ParseJson(patch));
    json::object* const object = changes.if_object();
    if (object == nullptr) return Error(std::vector<Problem>{{"", "must be an object"}});
    for (const std::string_view key : kKept) object->erase(key);
    if (object->contains("id") && TextAt(*object, "id") != job.id) {
        return Error(std::vector<Problem>{{"/id", "cannot be changed"}});
    }
    json::value merged = TimerJobObject(job);
    for (const std::string_view key : kKept) merged.as_object().erase(key);
    DropReplacedParts(merged.as_object(), *object);
    MergePatch(merged, changes);
    KSANA_TRY(Job changed, ReadOne(merged));
    KeepBookkeeping(job, changed);
    job = std::move(changed);
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
