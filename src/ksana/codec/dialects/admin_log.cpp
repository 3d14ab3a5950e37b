#include "ksana/codec/dialects/admin_log.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <boost/json/object.hpp>

#include "ksana/codec/dialects/admin_values.hpp"
#include "ksana/codec/json/json_parse.hpp"
#include "ksana/codec/json/value_writer.hpp"
#include "ksana/model/vocabulary.hpp"

namespace ksana::codec {

using model::Run;
using model::RunState;

namespace {

constexpr std::string_view kSucceeded = "SUCCESS";
constexpr std::string_view kFailed = "FAILED";
constexpr std::string_view kSkipped = "SKIPPED";

AdminLogStatus StatusOf(RunState state) {
    const std::string_view result = AdminResultOf(state);
    if (result == kSucceeded) return AdminLogStatus::kSuccess;
    return result == kFailed ? AdminLogStatus::kFailure : AdminLogStatus::kNotRun;
}

// Returns why the run did not succeed; empty if it did.
std::string MessageOf(const Run& run) {
    const model::RunStatus& status = run.status;
    if (StatusOf(status.state) == AdminLogStatus::kSuccess) return "";
    if (status.state == RunState::kSkipped) {
        return fmt::format("skipped: {}", model::NameOf(status.skip_reason));
    }
    return status.last_error.empty() ? std::string(model::NameOf(status.state)) : status.last_error;
}

void TextOrNull(const ValueWriter& writer, std::string_view key, const std::string& text) {
    writer.output().Key(key);
    if (text.empty()) {
        writer.output().Null();
    } else {
        writer.Write(text);
    }
}

// Writes the members of an entry into the open object.
void WriteMembers(const ValueWriter& writer, const Run& run) {
    const model::RunStatus& status = run.status;
    JsonOutput& output = writer.output();
    writer.Member("id", run.id);
    TextOrNull(writer, "jobId", run.job_id);
    writer.Member("status", static_cast<std::int32_t>(StatusOf(status.state)));
    output.TextMember("outcome", AdminResultOf(status.state));
    writer.Member("startTime", FireTimeOf(run));
    IntOrNull(output, "endTime", EpochMs(status.finished_at));
    IntOrNull(output, "duration", DurationOf(run));
    TextOrNull(writer, "message", MessageOf(run));
    writer.Member("attempts", status.attempt);
    writer.Member("trigger", run.trigger);
}

// Returns the lines of {"log": ["line", "line"]}; empty if there are none.
std::string LogTextOf(const std::string& detail) {
    if (detail.empty()) return "";
    const auto value = ParseJson(detail, LimitsOfStoredJson(detail));
    if (!value || !value->is_object()) return "";
    const auto* const lines = value->get_object().if_contains("log");
    if (lines == nullptr || !lines->is_array()) return "";
    std::string text;
    for (const auto& line : lines->get_array()) {
        if (!line.is_string()) continue;
        text.append(line.get_string().data(), line.get_string().size());
        text += '\n';
    }
    return text;
}

}  // namespace

model::RunStates StatesOf(AdminLogStatus status) {
    model::RunStates states = 0;
    for (std::size_t i = 0; i < model::kEnumCount<RunState>; ++i) {
        const auto state = static_cast<RunState>(i);
        if (!model::IsFinal(state) || StatusOf(state) != status) continue;
        states = static_cast<model::RunStates>(states | model::SetOf(state));
    }
    return states;
}

std::string_view AdminResultOf(RunState state) {
    if (state == RunState::kMissed) return kSkipped;
    if (state == RunState::kCompleting) return kSucceeded;
    return model::WordFor(model::Dialect::kLibrary, state, 0).value_or("");
}

std::int64_t FireTimeOf(const Run& run) { return EpochMs(run.nominal_at.value_or(run.created_at)); }

std::optional<std::int64_t> DurationOf(const Run& run) {
    const model::RunStatus& status = run.status;
    if (!status.started_at || !status.ended_at) return std::nullopt;
    const Duration took = std::max(*status.ended_at - *status.started_at, Duration::zero());
    return std::chrono::floor<std::chrono::milliseconds>(took).count();
}

std::string AdminLogPageToJson(const AdminLogPage& page) {
    JsonOutput output;
    const ValueWriter writer(JsonForm::kDefinition, output);
    output.BeginObject();
    output.Key("list");
    output.BeginArray();
    for (const Run& run : page.runs) {
        output.BeginObject();
        WriteMembers(writer, run);
        output.EndObject();
    }
    output.EndArray();
    writer.Member("total", page.total);
    output.TextMember("relation", page.exact ? "exact" : "at_least");
    writer.Member("page", static_cast<std::int64_t>(page.page));
    writer.Member("size", static_cast<std::int64_t>(page.size));
    output.EndObject();
    return output.Take();
}

std::string AdminLogEntryToJson(const Run& run) {
    JsonOutput output;
    const ValueWriter writer(JsonForm::kDefinition, output);
    output.BeginObject();
    WriteMembers(writer, run);
    output.Key("result");
    if (run.status.result.empty()) {
        output.Null();
    } else {
        writer.WriteJsonText(run.status.result);
    }
    TextOrNull(writer, "log", LogTextOf(run.status.detail));
    output.EndObject();
    return output.Take();
}

}  // namespace ksana::codec
