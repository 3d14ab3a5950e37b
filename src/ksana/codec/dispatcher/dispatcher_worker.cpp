#include "ksana/codec/dispatcher/dispatcher_worker.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ksana/codec/dispatcher/dispatcher_values.hpp"
#include "ksana/codec/json/json_reader.hpp"

namespace ksana::codec {

using model::Worker;
using model::WorkerState;

namespace {

// In the order of model::WorkerState.
constexpr std::array<std::string_view, 4> kWorkerWords = {"ALIVE", "DRAINING", "DOWN", "GONE"};

void ReadDispatcherWorker(ObjectReader& object, Worker& worker) {
    object.Required("id", worker.id);
    object.Optional("host", worker.host);
    object.Optional("types", worker.types);
    object.Optional("slots", worker.slots);
    object.Optional("labels", worker.labels);
    object.Optional("version", worker.version);
    object.Optional("incarnation", worker.incarnation);
    object.Finish();
}

// A whole number counts executions; a number with a fraction, 0.75 or 1.0, is a share of the slots.
void ReadLoad(ObjectReader& object, DispatcherHeartbeat& beat) {
    const auto node = object.Find("load");
    if (!node) return;
    if (!node->value.is_double()) {
        std::int32_t busy = 0;
        object.reader().Read(*node, busy);
        if (busy < 0) object.reader().Fault(node->path, "must not be negative", "out_of_range");
        beat.busy = busy;
        return;
    }
    beat.share = node->value.get_double();
    if (*beat.share >= 0 && *beat.share <= 1) return;
    object.reader().Fault(node->path, "is a whole number, or a share from 0.0 to 1.0",
                          "out_of_range");
}

void WriteDispatcherWorker(const ValueWriter& writer, const ShownWorker& shown) {
    const Worker& worker = shown.worker;
    JsonOutput& output = writer.output();
    writer.Member("id", worker.id);
    output.TextMember("status", WorkerWord(shown.state));
    writer.Member("host", worker.host);
    writer.Member("types", worker.types);
    writer.Member("load", worker.busy);
    writer.Member("slots", worker.slots);
    writer.Member("labels", worker.labels);
    writer.Member("version", worker.version);
    writer.Member("incarnation", worker.incarnation);
    writer.Member("drain", worker.draining || worker.drain_requested);
    SecondsOrNull(output, "heartbeat_interval", shown.heartbeat);
    writer.Member("registered_at", worker.registered_at);
    writer.Member("last_heartbeat_at", worker.last_heartbeat_at);
}

void WriteRunning(const ValueWriter& writer, const model::Run& run) {
    writer.output().BeginObject();
    writer.Member("run_id", run.id);
    writer.Member("task_id", run.job_id);
    writer.Member("type", run.type);
    ValueOrNull(writer, "start_time", run.status.started_at);
    writer.Member("progress", run.status.progress);
    writer.output().EndObject();
}

}  // namespace

Result<DispatcherWorker> DispatcherWorkerFromJson(std::string_view text) {
    KSANA_TRY(const boost::json::value value, ParseJson(text));
    JsonReader reader;
    DispatcherWorker read;
    ObjectReader object(reader, Node{value, ""});
    if (object.ok()) ReadDispatcherWorker(object, read.worker);
    read.problems = reader.TakeProblems();
    read.untold = reader.UntoldProblems();
    return read;
}

std::vector<Problem> InWorkerWords(std::vector<Problem> problems) {
    for (Problem& problem : problems) {
        if (problem.path == "/name") problem.path = "/id";
    }
    return problems;
}

std::int32_t DispatcherHeartbeat::BusyOf(const Worker& worker) const {
    if (busy) return *busy;
    if (!share) return worker.busy;
    return static_cast<std::int32_t>(std::ceil(*share * worker.slots));
}

Result<DispatcherHeartbeat> DispatcherHeartbeatFromJson(std::string_view text) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return DispatcherHeartbeat{};
    return ReadDocument<DispatcherHeartbeat>(
        text, JsonForm::kDefinition, {},
        [](JsonReader& reader, const Node& node, DispatcherHeartbeat& beat) {
            ObjectReader object(reader, node);
            ReadLoad(object, beat);
            object.Optional("incarnation", beat.incarnation);
            object.Finish();
        });
}

std::string_view WorkerWord(WorkerState state) {
    return kWorkerWords.at(static_cast<std::size_t>(state));
}

std::span<const std::string_view> WorkerWords() { return kWorkerWords; }

std::optional<WorkerState> WorkerStateOf(std::string_view word) {
    const auto* const found = std::ranges::find(kWorkerWords, word);
    if (found == kWorkerWords.end()) return std::nullopt;
    return static_cast<WorkerState>(found - kWorkerWords.begin());
}

std::string DispatcherWorkerToJson(const ShownWorker& shown) {
    JsonOutput output;
    output.BeginObject();
    WriteDispatcherWorker(ValueWriter(JsonForm::kDefinition, output), shown);
    output.EndObject();
    return output.Take();
}

std::string DispatcherWorkerToJson(const ShownWorker& shown, std::span<const model::Run> runs) {
    JsonOutput output;
    const ValueWriter writer(JsonForm::kDefinition, output);
    output.BeginObject();
    WriteDispatcherWorker(writer, shown);
    output.Key("running");
    output.BeginArray();
    for (const model::Run& run : runs) WriteRunning(writer, run);
    output.EndArray();
    output.EndObject();
    return output.Take();
}

}  // namespace ksana::codec
