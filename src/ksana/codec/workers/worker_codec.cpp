#include "ksana/codec/workers/worker_codec.hpp"

#include <chrono>

#include "ksana/base/text/json_output.hpp"
#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/json/json_tree.hpp"
#include "ksana/codec/json/value_writer.hpp"
#include "ksana/codec/schema/field_schema.hpp"
#include "ksana/model/run/agent.hpp"
#include "ksana/model/validate.hpp"

namespace ksana::codec {
namespace {

using model::Worker;

// A registration may have a hundred types and sixty labels.
constexpr std::size_t kMaxRegistration = std::size_t{256} << 10;

Schema Name() { return Schema::Text().Between(1, kMaxIdentifierLength); }

ObjectSchema& PutRegistration(ObjectSchema& out) {
    return out
        .Need("name", Name().Means("Stays the same over restarts; one process at a time has it."))
        .Need("incarnation", Schema::Id().Means("Drawn anew at each start of the process."))
        .May("host", Schema::Text().AtMost(model::kMaxNameLength).Means("Where it runs."))
        .May("version", Schema::Text().AtMost(model::kMaxNameLength).Means("Of its program."))
        .May("kinds", Schema::ListOf(Schema::Name<model::ActionKind>())
                          .Means("What it carries out; absent: queue."))
        .May("types", Schema::ListOf(Name())
                          .AtMost(model::kMaxFilterNames)
                          .Means("Types of tasks and names of handlers; none: all."))
        .May("slots", Schema::Int()
                          .Between(1, model::kMaxWorkerSlots)
                          .Default("1")
                          .Means("Runs that it works on at once."))
        .May("labels", Schema::Texts().Means("For jobs and tasks that ask for some."));
}

Schema MakeRegistration() {
    ObjectSchema out("A worker that begins to serve.");
    return PutRegistration(out).Example(
        R"({"name": "etl-1", "incarnation": "0192f0c1-7d7b-7c3e-9d1a-1f2e3d4c5b6a", "slots": 8,
"kinds": ["queue", "command"], "types": ["resize"], "labels": {"zone": "a"}})");
}

Schema MakeBeat() {
    return ObjectSchema("A worker is alive.")
        .Need("incarnation", Schema::Id().Means("As it was registered."))
        .May("busy", Schema::Int().AtLeast(0).Means("Slots in use."))
        .May("draining", Schema::Flag().Default("false").Means("It takes no more runs."))
        .Example(R"({"incarnation": "0192f0c1-7d7b-7c3e-9d1a-1f2e3d4c5b6a", "busy": 3})");
}

Schema MakeBeatAnswer() {
    return ObjectSchema("What the worker is to do.")
        .Need("state", Schema::Name<model::WorkerState>().Means("As the server sees it."))
        .Need("heartbeat_in", Schema::Number().Means("Seconds until the next one is due."))
        .Need("directives", Schema::ListOf(Schema::OneOf({"drain"}))
                                .Means("drain: take no more runs, finish, deregister."));
}

ObjectSchema WorkerSchema(std::string_view means) {
    ObjectSchema out(means);
    out.Need("name", Schema::Text().Means("Of the worker or agent."))
        .May("incarnation", Schema::Id().Means("Absent: an agent."))
        .Need("state", Schema::Name<model::WorkerState>().Means("By its last heartbeat."))
        .Need("agent", Schema::Flag().Means("It only claims: it has not registered."))
        .Need("host", Schema::Text().Means("Where it runs."))
        .Need("version", Schema::Text().Means("Of its program."))
        .Need("kinds",
              Schema::ListOf(Schema::Name<model::ActionKind>()).Means("What it carries out."))
        .Need("types", Schema::ListOf(Schema::Text()).Means("None: all."))
        .Need("slots", Schema::Int().Means("0: not known, of an agent."))
        .Need("busy", Schema::Int().Means("As it last said."))
        .Need("labels", Schema::Texts().Means("Its own."))
        .Need("registered_at", Schema::Time().Means("Of an agent: first seen."))
        .Need("last_heartbeat_at", Schema::Time().Means("Of an agent: when it last claimed."));
    return out;
}

Schema MakeWorker() { return WorkerSchema("A worker process, or an agent that claims."); }

Schema MakeWorkerWithRuns() {
    const Schema run = ObjectSchema()
                           .Need("id", Schema::Id().Means("Of the run."))
                           .May("type", Schema::Text().Means("Of the run."))
                           .May("job_id", Schema::Text().Means("Absent: a task."))
                           .May("started_at", Schema::Time().Means("Of this attempt."))
                           .Need("progress", Schema::Int().Means("Percent."));
    return WorkerSchema("A worker and what it works on.")
        .Need("runs", Schema::ListOf(run).Means("What it works on, at most a hundred."));
}

void WriteWorker(const ValueWriter& writer, const Worker& worker, model::WorkerState state) {
    writer.Member("name", worker.id);
    if (!worker.agent) writer.Member("incarnation", worker.incarnation);
    writer.Member("state", state);
    writer.Member("agent", worker.agent);
    writer.Member("host", worker.host);
    writer.Member("version", worker.version);
    writer.Member("kinds", worker.kinds);
    writer.Member("types", worker.types);
    writer.Member("slots", worker.slots);
    writer.Member("busy", worker.busy);
    writer.Member("labels", worker.labels);
    writer.Member("registered_at", worker.registered_at);
    writer.Member("last_heartbeat_at", worker.last_heartbeat_at);
}

void WriteRun(const ValueWriter& writer, const model::Run& run) {
    writer.output().BeginObject();
    writer.Member("id", run.id);
    if (!run.type.empty()) writer.Member("type", run.type);
    if (!run.job_id.empty()) writer.Member("job_id", run.job_id);
    if (run.status.started_at) writer.Member("started_at", *run.status.started_at);
    writer.Member("progress", run.status.progress);
    writer.output().EndObject();
}

}  // namespace

const NamedSchema kWorkerRegistrationSchema{"WorkerRegistration", &MakeRegistration};
const NamedSchema kWorkerBeatSchema{"WorkerHeartbeat", &MakeBeat};
const NamedSchema kWorkerBeatAnswerSchema{"WorkerDirectives", &MakeBeatAnswer};
const NamedSchema kWorkerSchema{"Worker", &MakeWorker};
const NamedSchema kWorkerWithRunsSchema{"WorkerWithRuns", &MakeWorkerWithRuns};

Result<Worker> WorkerFromView(std::string_view text) {
    return ReadDocument<Worker>(text, JsonForm::kDefinition, {.bytes = kMaxRegistration},
                                [](JsonReader& reader, const Node& node, Worker& out) {
                                    ObjectReader object(reader, node);
                                    object.Required("name", out.id);
                                    object.Required("incarnation", out.incarnation);
                                    object.Optional("host", out.host);
                                    object.Optional("version", out.version);
                                    object.Optional("kinds", out.kinds);
                                    object.Optional("types", out.types);
                                    object.Optional("slots", out.slots);
                                    object.Optional("labels", out.labels);
                                    object.Finish();
                                });
}

Result<WorkerBeat> WorkerBeatFromJson(std::string_view text) {
    return ReadDocument<WorkerBeat>(text, JsonForm::kDefinition, {.bytes = kMaxRegistration},
                                    [](JsonReader& reader, const Node& node, WorkerBeat& out) {
                                        ObjectReader object(reader, node);
                                        object.Required("incarnation", out.incarnation);
                                        object.Optional("draining", out.draining);
                                        if (const auto busy = object.Find("busy")) {
                                            reader.Read(*busy, out.busy);
                                            if (out.busy < 0 || out.busy > model::kMaxWorkerSlots) {
                                                reader.Fault(busy->path, "is no number of slots",
                                                             "out_of_range");
                                            }
                                        }
                                        object.Finish();
                                    });
}

std::string WorkerBeatToJson(model::WorkerState state, Duration next, bool drain) {
    JsonOutput output;
    const ValueWriter writer(JsonForm::kDefinition, output);
    output.BeginObject();
    writer.Member("state", state);
    output.Key("heartbeat_in");
    output.Double(std::chrono::duration<double>(next).count());
    output.Key("directives");
    output.BeginArray();
    if (drain) output.Text("drain");
    output.EndArray();
    output.EndObject();
    return output.Take();
}

std::string WorkerViewToJson(const Worker& worker, model::WorkerState state) {
    JsonOutput output;
    const ValueWriter writer(JsonForm::kDefinition, output);
    output.BeginObject();
    WriteWorker(writer, worker, state);
    output.EndObject();
    return output.Take();
}

std::string WorkerViewToJson(const Worker& worker, model::WorkerState state,
                             std::span<const model::Run> runs) {
    JsonOutput output;
    const ValueWriter writer(JsonForm::kDefinition, output);
    output.BeginObject();
    WriteWorker(writer, worker, state);
    output.Key("runs");
    output.BeginArray();
    for (const model::Run& run : runs) WriteRun(writer, run);
    output.EndArray();
    output.EndObject();
    return output.Take();
}

std::string ShardPayload(const std::string& payload, std::size_t shard, std::size_t shards) {
    Json object = Json::Object();
    if (!payload.empty()) {
        const auto parsed = Json::Parse(payload);
        if (parsed && parsed->IsObject()) {
            object = *parsed;
        } else if (parsed) {
            object = object.With("/payload", *parsed);
        }
    }
    return object.With("/shard", Json::Of(static_cast<std::int64_t>(shard)))
        .With("/shards", Json::Of(static_cast<std::int64_t>(shards)))
        .Compact();
}

}  // namespace ksana::codec
