#include "ksana/codec/v1/agent_codec.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/text/names.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/json/json_text.hpp"
#include "ksana/codec/json/value_writer.hpp"
#include "ksana/codec/records/record_codec.hpp"
#include "ksana/codec/v1/job_view.hpp"
#include "ksana/model/run/trace_context.hpp"
#include "ksana/model/validate.hpp"

namespace ksana::codec {
namespace {

using model::AgentClaim;
using model::AgentExchange;
using model::AgentOutcome;
using model::Event;
using model::EventKind;
using model::RunEvent;

// Room for escapes and other members around the largest result.
constexpr std::size_t kMaxReportText = std::size_t{8} << 20;

// Adds the bounds of the protocol to ObjectReader. Lives during the reading of one object.
class BoundedReader {
  public:
    explicit BoundedReader(ObjectReader& object) : object_(object) {}

    void Identifier(std::string_view key, std::string& out, bool required) {
        const auto node = required ? object_.FindRequired(key) : object_.Find(key);
        if (!node) return;
        Read(*node, out);
        CheckIdentifier(*node, out);
    }
    void Identifiers(std::string_view key, std::vector<std::string>& out) {
        const auto node = object_.Find(key);
        if (!node) return;
        reader().ReadEach(*node, out, [this](const Node& item, std::string& value) {
            Read(item, value);
            CheckIdentifier(item, value);
        });
        if (out.size() > model::kMaxFilterNames) {
            OutOfRange(*node, fmt::format("has more than {} names", model::kMaxFilterNames));
        }
    }
    void Text(std::string_view key, std::string& out, std::size_t most, bool required = false) {
        const auto node = required ? object_.FindRequired(key) : object_.Find(key);
        if (!node) return;
        Read(*node, out);
        if (out.size() > most) OutOfRange(*node, fmt::format("is longer than {} bytes", most));
        if (required && out.empty()) reader().Fault(node->path, "must not be empty");
    }
    void Range(std::string_view key, Duration& out, Duration low, Duration high,
               bool required = false) {
        const auto node = required ? object_.FindRequired(key) : object_.Find(key);
        if (!node) return;
        Read(*node, out);
        if (out < low || out > high) {
            OutOfRange(*node, fmt::format("must lie between {} and {}", FormatDuration(low),
                                          FormatDuration(high)));
        }
    }
    void Range(std::string_view key, std::int32_t& out, std::int32_t low, std::int32_t high) {
        const auto node = object_.Find(key);
        if (!node) return;
        Read(*node, out);
        if (out < low || out > high) {
            OutOfRange(*node, fmt::format("must lie between {} and {}", low, high));
        }
    }
    void OutOfRange(const Node& node, std::string message) {
        reader().Fault(node.path, std::move(message), "out_of_range");
    }
    JsonReader& reader() { return object_.reader(); }

  private:
    // A value of the wrong type leaves `out` within its bounds, so that it is one fault only.
    template <class T>
    void Read(const Node& node, T& out) {
        reader().Read(node, out);
    }
    void CheckIdentifier(const Node& node, const std::string& text) {
        if (!node.value.is_string() || IsIdentifier(text)) return;
        reader().Fault(node.path, fmt::format("is {}", kIdentifierRule));
    }

    ObjectReader& object_;
};

void ReadClaimMembers(ObjectReader& object, AgentClaim& out) {
    BoundedReader bounded(object);
    bounded.Identifiers("types", out.types);
    bounded.Identifiers("categories", out.categories);
    bounded.Identifier("tenant", out.tenant, false);
    bounded.Text("creator", out.creator, model::kMaxNameLength);
    if (const auto labels = object.Find("labels")) {
        object.reader().Read(*labels, out.labels);
        if (out.labels.size() > model::kMaxSelectorLabels) {
            bounded.OutOfRange(*labels, fmt::format("has more than {}", model::kMaxSelectorLabels));
        }
    }
    object.Optional("incarnation", out.incarnation);
    if (const auto kinds = object.Find("kinds")) {
        object.reader().Read(*kinds, out.kinds);
        std::ranges::sort(out.kinds);
        const auto rest = std::ranges::unique(out.kinds);
        out.kinds.erase(rest.begin(), rest.end());
        if (out.kinds.empty()) object.reader().Fault(kinds->path, "needs at least one kind");
    }
    bounded.Range("max", out.max, 1, model::kMaxClaim);
    bounded.Range("lease", out.lease, model::kMinAgentLease, model::kMaxAgentLease);
    bounded.Range("wait", out.wait, Duration::zero(), model::kMaxPoll);
}

// Stores lines as JSON strings separated by commas (model/run/attempt_log.hpp).
void ReadLog(ObjectReader& object, std::string& out) {
    const auto node = object.Find("log");
    if (!node) return;
    BoundedReader bounded(object);
    std::vector<std::string> lines;
    object.reader().Read(*node, lines);
    if (lines.size() > model::kMaxLogLines) {
        bounded.OutOfRange(*node, fmt::format("has more than {} lines", model::kMaxLogLines));
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].size() > model::kMaxLogLine) {
            object.reader().Fault(fmt::format("{}/{}", node->path, i),
                                  fmt::format("is longer than {} bytes", model::kMaxLogLine),
                                  "out_of_range");
        }
        if (i > 0) out += ',';
        out += QuoteJson(WithoutNul(std::move(lines[i]), model::kMaxLogLine));
    }
}

void ReadHeartbeat(ObjectReader& object, Event& out) {
    BoundedReader bounded(object);
    out.kind = EventKind::kProgress;
    out.lease = AgentClaim{}.lease;
    bounded.Range("lease", out.lease, model::kMinAgentLease, model::kMaxAgentLease);
    if (const auto progress = object.Find("progress")) {
        out.progress = 0;
        bounded.Range("progress", *out.progress, 0, 100);
    }
    bounded.Text("note", out.note, model::kMaxNoteLength);
    out.note = WithoutNul(std::move(out.note), model::kMaxNoteLength);
}

struct AgentError {
    std::string type;
    std::string message;
    std::string stack;
};

void PutError(const AgentError& error, Event& out) {
    const std::string text = error.type.empty() ? error.message : error.type + ": " + error.message;
    out.error = CutText(text, model::kMaxErrorText);
    JsonOutput output;
    output.BeginObject();
    output.Key("error");
    output.BeginObject();
    if (!error.type.empty()) {
        output.Key("type");
        output.Text(CutText(error.type, model::kMaxNameLength));
    }
    output.Key("message");
    output.Text(CutText(error.message, model::kMaxErrorText));
    if (!error.stack.empty()) {
        output.Key("stack");
        output.Text(CutText(error.stack, model::kMaxStack));
    }
    output.EndObject();
    output.EndObject();
    out.detail = output.Take();
}

// Reads "default", "no" or {"after": "30s"}.
void ReadRetry(ObjectReader& object, Event& out) {
    const auto node = object.Find("retry");
    if (!node) return;
    if (node->value.is_object()) {
        ObjectReader choice(object.reader(), *node);
        Duration after{};
        BoundedReader(choice).Range("after", after, Duration::zero(), model::kMaxSnooze, true);
        out.after = after;
        return choice.Finish();
    }
    static constexpr std::array<std::string_view, 2> kWords = {"default", "no"};
    std::string word(kWords[0]);
    object.reader().Read(*node, word);
    if (word == kWords[1]) {
        out.kind = EventKind::kPermanentFailure;
    } else if (word != kWords[0]) {
        object.reader().FaultUnknownName(node->path, word, kWords);
    }
}

// What `error` may be: over HTTP an object, as the description of the API says; in the messages of
// a broker's consumers also a text, its message (document D).
enum class ErrorForm : std::uint8_t { kObject, kObjectOrText };

void ReadError(ObjectReader& object, ErrorForm form, Event& out) {
    if (const auto node = object.FindRequired("error")) {
        AgentError error;
        if (form == ErrorForm::kObjectOrText && node->value.is_string()) {
            object.reader().Read(*node, error.message);
        } else {
            ObjectReader reader(object.reader(), *node);
            reader.Optional("type", error.type);
            reader.Required("message", error.message);
            reader.Optional("stack", error.stack);
            reader.Finish();
        }
        error.type = WithoutNul(std::move(error.type), model::kMaxNameLength);
        error.message = WithoutNul(std::move(error.message), model::kMaxErrorText);
        error.stack = WithoutNul(std::move(error.stack), model::kMaxStack);
        PutError(error, out);
    }
}

// What a worker's executor knows about the attempt: answer, timings, exit code, output. Replaces
// the detail that is made of the error.
void ReadDetail(ObjectReader& object, Event& out) {
    const auto node = object.Find("detail");
    if (!node) return;
    if (!node->value.is_object()) return object.reader().Fault(node->path, "must be an object");
    object.reader().ReadRaw(*node, out.detail);
    if (out.detail.size() > model::kMaxDetail) {
        BoundedReader(object).OutOfRange(*node,
                                         fmt::format("is longer than {} bytes", model::kMaxDetail));
    }
}

void ReadSuccess(ObjectReader& object, Event& out) {
    out.kind = EventKind::kSuccess;
    if (const auto result = object.Find("result")) {
        object.reader().ReadRaw(*result, out.result);
        if (out.result.size() > model::kMaxBodyLength) {
            BoundedReader(object).OutOfRange(
                *result, fmt::format("is longer than {} bytes", model::kMaxBodyLength));
        }
    }
    bool callback = true;
    object.Optional("callback", callback);
    out.without_callback = !callback;
    ReadDetail(object, out);
}

void ReadFailure(ObjectReader& object, ErrorForm form, Event& out) {
    out.kind = EventKind::kRetryableFailure;
    ReadError(object, form, out);
    ReadRetry(object, out);
    ReadDetail(object, out);
}

void ReadReport(ObjectReader& object, AgentOutcome outcome, ErrorForm form, Event& out) {
    BoundedReader bounded(object);
    bounded.Text("exec_id", out.exec_id, model::kMaxExecIdLength, true);
    switch (outcome) {
        case AgentOutcome::kHeartbeat:
            ReadHeartbeat(object, out);
            break;
        case AgentOutcome::kSucceeded:
            ReadSuccess(object, out);
            break;
        case AgentOutcome::kFailed:
            ReadFailure(object, form, out);
            break;
        case AgentOutcome::kSnoozed: {
            out.kind = EventKind::kSnooze;
            Duration after{};
            bounded.Range("after", after, Duration::zero(), model::kMaxSnooze, true);
            out.after = after;
            break;
        }
        case AgentOutcome::kReleased:
            out.kind = EventKind::kShutdown;
            break;
        case AgentOutcome::kTimedOut:
            out.kind = EventKind::kTimeout;
            ReadError(object, form, out);
            ReadDetail(object, out);
            break;
    }
    ReadLog(object, out.log);
}

void ReadExchangeReport(JsonReader& reader, const Node& node, RunEvent& out) {
    ObjectReader object(reader, node);
    object.Required("run_id", out.run_id);
    std::optional<AgentOutcome> outcome;
    object.Required("outcome", outcome);
    if (!outcome) return;  // the other members depend on it
    ReadReport(object, *outcome, ErrorForm::kObject, out.event);
    object.Finish();
}

void ReadExchange(JsonReader& reader, const Node& node, AgentExchange& out) {
    ObjectReader object(reader, node);
    BoundedReader bounded(object);
    bounded.Identifier("worker", out.worker, true);
    if (const auto reports = object.Find("reports")) {
        const auto* array = reports->value.if_array();
        if (array != nullptr && array->size() > model::kMaxReports) {
            bounded.OutOfRange(*reports, fmt::format("{} in one call; at most {} are taken",
                                                     array->size(), model::kMaxReports));
        } else {
            reader.ReadEach(*reports, out.reports, [&](const Node& item, RunEvent& report) {
                ReadExchangeReport(reader, item, report);
                report.event.agent = out.worker;
            });
        }
    }
    if (const auto claim = object.Find("claim")) {
        ObjectReader members(reader, *claim);
        out.claim.emplace().worker = out.worker;
        ReadClaimMembers(members, *out.claim);
        members.Finish();
    }
    object.Finish();
}

void Seconds(JsonOutput& output, Duration duration) {
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(duration);
    if (whole == duration) return output.Int(whole.count());
    output.Double(std::chrono::duration<double>(duration).count());
}

// The record of the run and the definition of its job, so that a worker can hand both to the same
// executor as a server.
void WriteWhole(JsonOutput& output, const model::Run& run, const model::Job* job) {
    // The record is {"run":{…}}: the member has what is inside.
    const std::string record = RecordToLine(run);
    constexpr std::string_view kBegin = R"({"run":)";
    output.Key("run");
    output.Raw(std::string_view(record).substr(kBegin.size(), record.size() - kBegin.size() - 1));
    if (job == nullptr) return;
    output.Key("job");
    output.Raw(JobViewToJson(*job));
}

void WriteRun(const ValueWriter& writer, const model::Run& run, const model::Job* job,
              const model::TraceSampler& sampler) {
    JsonOutput& output = writer.output();
    const model::RunStatus& status = run.status;
    const TimePoint now = status.started_at.value_or(TimePoint{});
    output.BeginObject();
    writer.Member("run_id", run.id);
    writer.Member("exec_id", status.exec_id);
    writer.Member("fence", status.fence);
    writer.Member("type", run.type);
    writer.Member("category", run.category);
    writer.Member("tenant", run.tenant);
    writer.Member("creator", run.creator);
    writer.Member("priority", run.priority);
    writer.Member("attempt", status.attempt);
    output.Key("payload");
    writer.WriteJsonText(run.payload);
    writer.Member("timeout", run.policy.timeout);
    output.Key("deadline_in");
    Seconds(output, status.deadline.value_or(now) - now);
    output.Key("lease_expires_in");
    Seconds(output, status.lease_until.value_or(now) - now);
    writer.Member("traceparent", model::TraceParentOf(run, sampler));
    if (run.parent) writer.Member("parent", *run.parent);
    if (!run.job_id.empty()) writer.Member("job_id", run.job_id);
    if (run.nominal_at) writer.Member("nominal_at", *run.nominal_at);
    writer.Member("kind", run.kind);
    if (run.kind != model::ActionKind::kQueue) WriteWhole(output, run, job);
    output.EndObject();
}

std::string_view DrainText(bool drain) { return drain ? R"(,"directives":["drain"])" : ""; }

std::string RunsToJson(std::span<const model::Run> runs, std::span<const model::Job> jobs,
                       const model::TraceSampler& sampler) {
    JsonOutput output;
    const ValueWriter writer(JsonForm::kDefinition, output);
    output.BeginArray();
    for (const model::Run& run : runs) {
        const auto job = std::ranges::find(jobs, run.job_id, &model::Job::id);
        WriteRun(writer, run, job == jobs.end() ? nullptr : &*job, sampler);
    }
    output.EndArray();
    return output.Take();
}

void WriteWords(JsonOutput& output, std::string_view key, std::span<const std::string_view> words) {
    output.Key(key);
    output.BeginArray();
    for (const std::string_view word : words) output.Text(word);
    output.EndArray();
}

}  // namespace

void ReadConsumerReport(ObjectReader& object, std::optional<AgentOutcome> outcome, Event& out) {
    if (outcome) return ReadReport(object, *outcome, ErrorForm::kObjectOrText, out);
    BoundedReader bounded(object);
    bounded.Text("exec_id", out.exec_id, model::kMaxExecIdLength, true);
    out.kind = EventKind::kTake;
    bounded.Range("lease", out.lease, model::kMinAgentLease, model::kMaxAgentLease);
    ReadLog(object, out.log);
}

Result<AgentClaim> AgentClaimFromJson(std::string_view text) {
    return ReadDocument<AgentClaim>(
        text, JsonForm::kDefinition, {}, [](JsonReader& reader, const Node& node, AgentClaim& out) {
            ObjectReader object(reader, node);
            BoundedReader(object).Identifier("worker", out.worker, true);
            ReadClaimMembers(object, out);
            object.Finish();
        });
}

Result<Event> AgentReportFromJson(std::string_view text, AgentOutcome outcome) {
    return ReadDocument<Event>(text, JsonForm::kDefinition, {.bytes = kMaxReportText},
                               [outcome](JsonReader& reader, const Node& node, Event& out) {
                                   ObjectReader object(reader, node);
                                   ReadReport(object, outcome, ErrorForm::kObject, out);
                                   BoundedReader(object).Identifier("worker", out.agent.emplace(),
                                                                    false);
                                   object.Finish();
                               });
}

Result<AgentExchange> AgentExchangeFromJson(std::string_view text, std::size_t max_bytes) {
    return ReadDocument<AgentExchange>(text, JsonForm::kDefinition, {.bytes = max_bytes},
                                       ReadExchange);
}

std::string ClaimedRunsToJson(std::span<const model::Run> runs, std::span<const model::Job> jobs,
                              bool drain, const model::TraceSampler& sampler) {
    return fmt::format(R"({{"runs":{}{}}})", RunsToJson(runs, jobs, sampler), DrainText(drain));
}

std::string ReportAnswersToJson(std::span<const ReportAnswer> answers) {
    JsonOutput output;
    const ValueWriter writer(JsonForm::kDefinition, output);
    output.BeginArray();
    for (const ReportAnswer& answer : answers) {
        output.BeginObject();
        writer.Member("run_id", answer.run_id);
        output.Key("verdict");
        output.Text(answer.verdict);
        if (!answer.reason.empty()) writer.Member("reason", answer.reason);
        if (!answer.directives.empty()) WriteWords(output, "directives", answer.directives);
        output.EndObject();
    }
    output.EndArray();
    return output.Take();
}

std::string ExchangeToJson(std::string reports, std::span<const model::Run> runs,
                           std::span<const model::Job> jobs, bool drain,
                           const model::TraceSampler& sampler) {
    return fmt::format(R"({{"reports":{},"runs":{}{}}})", std::move(reports),
                       RunsToJson(runs, jobs, sampler), DrainText(drain));
}

std::string HeartbeatToJson(Duration lease, std::span<const std::string_view> directives) {
    JsonOutput output;
    output.BeginObject();
    output.Key("lease_expires_in");
    Seconds(output, lease);
    WriteWords(output, "directives", directives);
    output.EndObject();
    return output.Take();
}

}  // namespace ksana::codec
