#include "ksana/codec/jobs_file.hpp"

#include <fmt/core.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "ksana/codec/json_reader.hpp"
#include "ksana/codec/json_write.hpp"
#include "ksana/codec/timer_job_fields.hpp"
#include "ksana/codec/value_writer.hpp"

namespace ksana::codec {
namespace {

namespace json = boost::json;
using model::Job;

constexpr std::int64_t kVersion = 1;

// JSON inside a job may be as deep as ParseJson lets it, and a few levels of ours are around it.
constexpr std::size_t kDepth = JsonLimits{}.depth + 16;

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
    json::array array;
    array.reserve(jobs.size());
    for (const Job* job : jobs) array.emplace_back(TimerJobObject(*job));
    const ValueWriter writer(JsonForm::kJobsFile);
    return WriteJson(json::object{{"version", kVersion},
                                  {"updated_at", writer.Make(updated_at)},
                                  {"jobs", std::move(array)}},
                     JsonStyle::kPretty);
}

Result<JobsFile> JobsFileFromJson(std::string_view text) {
    return ReadDocument<JobsFile>(text, JsonForm::kJobsFile,
                                  {.bytes = text.size(), .depth = kDepth}, ReadFile);
}

}  // namespace ksana::codec
