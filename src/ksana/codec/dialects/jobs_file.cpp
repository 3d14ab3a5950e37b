#include "ksana/codec/dialects/jobs_file.hpp"

#include <fmt/core.h>

#include "ksana/codec/dialects/timer_job_fields.hpp"
#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/json/value_writer.hpp"

namespace ksana::codec {
namespace {

using model::Job;

constexpr std::int64_t kVersion = 1;

void ReadFile(JsonReader& reader, const Node& node, JobsFile& file) {
    ObjectReader object(reader, node);
    object.Optional("version", file.version);
    if (file.version != kVersion) {
        reader.Fault(node.path + "/version",
                     fmt::format("is {}; this program knows {} only", file.version, kVersion));
    }
    object.Optional("updated_at", file.updated_at);
    if (const auto jobs = object.FindRequired("jobs")) {
        reader.ReadEach(*jobs, file.jobs,
                        [&reader](const Node& item, Job& job) { ReadTimerJob(reader, item, job); });
    }
    object.Finish();
}

}  // namespace

std::string JobsFileToJson(std::span<const Job* const> jobs, TimePoint updated_at) {
    JsonOutput output(JsonStyle::kPretty);
    const ValueWriter writer(JsonForm::kJobsFile, output);
    output.BeginObject();
    writer.Member("version", kVersion);
    writer.Member("updated_at", updated_at);
    output.Key("jobs");
    output.BeginArray();
    for (const Job* job : jobs) WriteTimerJob(output, *job);
    output.EndArray();
    output.EndObject();
    return output.Take();
}

Result<JobsFile> JobsFileFromJson(std::string_view text) {
    return ReadDocument<JobsFile>(text, JsonForm::kJobsFile, LimitsOfStoredJson(text), ReadFile);
}

}  // namespace ksana::codec
