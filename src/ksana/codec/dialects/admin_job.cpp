#include "ksana/codec/dialects/admin_job.hpp"

#include "ksana/codec/dialects/admin_values.hpp"
#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/json/value_writer.hpp"

namespace ksana::codec {
namespace {

std::int64_t Milliseconds(Duration duration) {
    return std::chrono::floor<std::chrono::milliseconds>(duration).count();
}

void WriteSchedule(const ValueWriter& writer, const AdminJob& job) {
    JsonOutput& output = writer.output();
    output.Key("schedule");
    output.BeginObject();
    if (!job.cron.empty()) {
        writer.Member("cron", job.cron);
    } else if (job.fixed_rate > Duration::zero()) {
        writer.Member("fixedRate", Milliseconds(job.fixed_rate));
        writer.Member("initialDelay", Milliseconds(job.initial_delay));
    } else if (job.run_at) {
        writer.Member("runAt", *job.run_at);
    }
    output.EndObject();
}

void WriteJob(JsonOutput& output, const AdminJob& job) {
    const ValueWriter writer(JsonForm::kDefinition, output);
    output.BeginObject();
    writer.Member("id", job.id);
    writer.Member("enabled", job.enabled);
    WriteSchedule(writer, job);
    writer.Member("mode", job.mode);
    IntOrNull(output, "lastFireTime", job.last_fire_time);
    IntOrNull(output, "lastDuration", job.last_duration);
    output.Key("lastResult");
    if (job.last_result.empty()) {
        output.Null();
    } else {
        output.Text(job.last_result);
    }
    IntOrNull(output, "nextFireTime", job.next_fire_time);
    writer.Member("runCount", job.run_count);
    writer.Member("failCount", job.fail_count);
    output.EndObject();
}

void ReadStatusChange(JsonReader& reader, const Node& node, AdminStatusChange& out) {
    ObjectReader object(reader, node);
    object.Required("id", out.id);
    object.Required("enabled", out.enabled);
    object.Finish();
}

}  // namespace

std::string AdminJobToJson(const AdminJob& job) {
    JsonOutput output;
    WriteJob(output, job);
    return output.Take();
}

std::string AdminJobsToJson(std::span<const AdminJob> jobs) {
    JsonOutput output;
    output.BeginArray();
    for (const AdminJob& job : jobs) WriteJob(output, job);
    output.EndArray();
    return output.Take();
}

Result<AdminParameters> AdminParametersFromJson(std::string_view text) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return AdminParameters();
    KSANA_TRY(const TextMap texts,
              ReadDocument<TextMap>(text, JsonForm::kDefinition, {},
                                    [](JsonReader& reader, const Node& node, TextMap& out) {
                                        reader.Read(node, out);
                                    }));
    return AdminParameters(texts.begin(), texts.end());
}

std::string AdminParametersToJson(const AdminParameters& parameters) {
    if (parameters.empty()) return "";
    JsonOutput output;
    const ValueWriter writer(JsonForm::kDefinition, output);
    output.BeginObject();
    for (const auto& [name, value] : parameters) writer.Member(name, value);
    output.EndObject();
    return output.Take();
}

Result<AdminStatusChange> AdminStatusChangeFromJson(std::string_view text) {
    return ReadDocument<AdminStatusChange>(text, JsonForm::kDefinition, {}, ReadStatusChange);
}

}  // namespace ksana::codec
