#include "ksana/codec/v1/broker_codec.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

#include "ksana/base/text/names.hpp"
#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/json/value_writer.hpp"
#include "ksana/codec/v1/agent_codec.hpp"
#include "ksana/model/run/agent.hpp"
#include "ksana/model/worker.hpp"

namespace ksana::codec {
namespace {

using model::AgentOutcome;
using model::EventKind;
using model::RunEvent;

// Room for a result of a megabyte, its escapes and the other members.
constexpr std::size_t kMostText = std::size_t{8} << 20;

struct Status {
    std::string_view word;                // of document D, as far as it has one
    std::optional<AgentOutcome> outcome;  // none: the attempt begins
};
constexpr std::array<Status, 7> kStatuses = {{{"RUNNING", {}},
                                              {"HEARTBEAT", AgentOutcome::kHeartbeat},
                                              {"COMPLETED", AgentOutcome::kSucceeded},
                                              {"FAILED", AgentOutcome::kFailed},
                                              {"TIMEOUT", AgentOutcome::kTimedOut},
                                              {"RELEASED", AgentOutcome::kReleased},
                                              {"SNOOZED", AgentOutcome::kSnoozed}}};

// "status", or "outcome" with the words of agents.
const Status* ReadStatus(ObjectReader& object) {
    std::optional<AgentOutcome> outcome;
    object.Optional("outcome", outcome);
    if (outcome) {
        return std::ranges::find(kStatuses, outcome, &Status::outcome);
    }
    const auto node = object.FindRequired("status");
    if (!node) return nullptr;
    std::string word;
    object.reader().Read(*node, word);
    std::array<std::string_view, kStatuses.size()> words;
    for (std::size_t i = 0; i < kStatuses.size(); ++i) {
        if (kStatuses.at(i).word == word) return &kStatuses.at(i);
        words.at(i) = kStatuses.at(i).word;
    }
    if (node->value.is_string()) object.reader().FaultUnknownName(node->path, word, words);
    return nullptr;
}

// The name that an owner has: of a registered worker with its incarnation.
std::string ReadOwner(ObjectReader& object) {
    std::string worker;
    Uuid incarnation;
    const auto node = object.FindRequired("worker");
    if (node) object.reader().Read(*node, worker);
    object.Optional("incarnation", incarnation);
    if (node && node->value.is_string() && !IsIdentifier(worker)) {
        object.reader().Fault(node->path, fmt::format("is {}", kIdentifierRule));
    }
    return model::OwnerName(worker, incarnation);
}

void ReadStatusReport(JsonReader& reader, const Node& node, RunEvent& out) {
    ObjectReader object(reader, node);
    object.Required("run_id", out.run_id);
    std::string owner = ReadOwner(object);
    const Status* const status = ReadStatus(object);
    if (status == nullptr) return;  // the other members depend on it
    ReadConsumerReport(object, status->outcome, out.event);
    out.event.owner = std::move(owner);
    object.Finish();
}

// One report, or a list of them.
void ReadStatusMessage(JsonReader& reader, const Node& node, std::vector<RunEvent>& out) {
    const auto* const list = node.value.if_array();
    if (list == nullptr) return ReadStatusReport(reader, node, out.emplace_back());
    if (list->empty() || list->size() > model::kMaxReports) {
        return reader.Fault(node.path, fmt::format("must have 1 to {} reports, and has {}",
                                                   model::kMaxReports, list->size()));
    }
    reader.ReadEach(node, out, [&](const Node& item, RunEvent& report) {
        ReadStatusReport(reader, item, report);
    });
}

}  // namespace

std::string TaskMessageToJson(const model::Run& run, const model::TraceSampler& sampler) {
    JsonOutput output;
    const ValueWriter writer(JsonForm::kDefinition, output);
    output.BeginObject();
    writer.Member("run_id", run.id);
    writer.Member("exec_id", run.status.exec_id);
    writer.Member("fence", run.status.fence);
    writer.Member("attempt", run.status.attempt);
    writer.Member("type", run.type);
    writer.Member("category", run.category);
    writer.Member("tenant", run.tenant);
    writer.Member("creator", run.creator);
    writer.Member("priority", run.priority);
    output.Key("payload");
    writer.WriteJsonText(run.payload);
    writer.Member("timeout", run.policy.timeout);
    writer.Member("traceparent", model::TraceParentOf(run, sampler));
    if (run.parent) writer.Member("parent", *run.parent);
    if (!run.job_id.empty()) writer.Member("job_id", run.job_id);
    if (run.nominal_at) writer.Member("nominal_at", *run.nominal_at);
    writer.Member("kind", run.kind);
    output.EndObject();
    return output.Take();
}

Result<std::vector<RunEvent>> StatusMessageFromJson(std::string_view text) {
    return ReadDocument<std::vector<RunEvent>>(text, JsonForm::kDefinition, {.bytes = kMostText},
                                               ReadStatusMessage);
}

std::string DirectiveMessageToJson(const Uuid& run_id, std::string_view exec_id,
                                   std::string_view directive) {
    JsonOutput output;
    const ValueWriter writer(JsonForm::kDefinition, output);
    output.BeginObject();
    writer.Member("run_id", run_id);
    writer.Member("exec_id", std::string(exec_id));
    writer.Member("directive", std::string(directive));
    output.EndObject();
    return output.Take();
}

}  // namespace ksana::codec
