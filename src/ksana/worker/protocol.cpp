#include "ksana/worker/protocol.hpp"

#include <algorithm>

#include "ksana/base/log/log.hpp"
#include "ksana/base/text/escape.hpp"
#include "ksana/base/text/json_output.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/codec/json/json_text.hpp"
#include "ksana/codec/records/record_codec.hpp"
#include "ksana/codec/v1/job_view.hpp"
#include "ksana/model/run/agent.hpp"
#include "ksana/model/run/trace_context.hpp"
#include "ksana/model/validate.hpp"

namespace ksana::worker {
namespace {

using codec::Json;
using model::Event;
using model::EventKind;

void WriteWords(JsonOutput& output, std::string_view key, std::span<const std::string> words) {
    output.Key(key);
    output.BeginArray();
    for (const std::string& word : words) output.Text(word);
    output.EndArray();
}

void WriteKinds(JsonOutput& output, const Identity& who) {
    output.Key("kinds");
    output.BeginArray();
    for (const model::ActionKind kind : who.kinds) output.Text(model::NameOf(kind));
    output.EndArray();
}

void WriteClaim(JsonOutput& output, const Identity& who, const ClaimWish& wish) {
    output.TextMember("incarnation", who.incarnation.ToString());
    WriteKinds(output, who);
    WriteWords(output, "types", who.types);
    output.Key("max");
    output.Unsigned(wish.max);
    output.TextMember("lease", FormatDuration(wish.lease));
    output.TextMember("wait", FormatDuration(wish.wait));
}

// Text that the server accepts: UTF-8 without NUL, of bounded length.
std::string Clean(std::string_view text, std::size_t most) {
    std::string clean(CutText(text, most));
    if (!IsUtf8(clean)) clean = std::string(CutText(Printable(clean), most));
    return codec::WithoutNul(std::move(clean), most);
}

// Splits lines (model/run/attempt_log.hpp) into what one report may have.
std::vector<std::vector<std::string>> Portions(const std::string& log) {
    std::vector<std::vector<std::string>> portions;
    if (log.empty()) return portions;
    const auto lines = Json::Parse("[" + log + "]");
    if (!lines) return portions;  // never: executors write them with JsonOutput
    for (const Json& line : lines->Items()) {
        if (portions.empty() || portions.back().size() == model::kMaxLogLines) {
            portions.emplace_back();
        }
        portions.back().push_back(Clean(line.Text(), model::kMaxLogLine));
    }
    return portions;
}

void WriteLines(JsonOutput& output, const std::vector<std::string>& lines) {
    if (!lines.empty()) WriteWords(output, "log", lines);
}

void BeginReport(JsonOutput& output, const model::Run& run, model::AgentOutcome outcome) {
    output.BeginObject();
    output.TextMember("run_id", run.id.ToString());
    output.TextMember("exec_id", run.status.exec_id);
    output.TextMember("outcome", model::NameOf(outcome));
}

model::AgentOutcome OutcomeOf(EventKind kind) {
    switch (kind) {
        case EventKind::kSuccess:
            return model::AgentOutcome::kSucceeded;
        case EventKind::kTimeout:
            return model::AgentOutcome::kTimedOut;
        case EventKind::kSnooze:
            return model::AgentOutcome::kSnoozed;
        case EventKind::kShutdown:
            return model::AgentOutcome::kReleased;
        default:
            return model::AgentOutcome::kFailed;
    }
}

void WriteFailure(JsonOutput& output, const Event& event) {
    output.Key("error");
    output.BeginObject();
    const std::string text = Clean(event.error, model::kMaxErrorText);
    output.TextMember("message", text.empty() ? "failed" : text);
    output.EndObject();
}

void WriteRetry(JsonOutput& output, const Event& event) {
    if (event.kind == EventKind::kPermanentFailure) {
        output.TextMember("retry", "no");
    } else if (event.after) {
        output.Key("retry");
        output.BeginObject();
        output.TextMember("after", FormatDuration(std::min(*event.after, model::kMaxSnooze)));
        output.EndObject();
    }
}

Duration Seconds(const Json& json) {
    constexpr double kMost = 1e9;
    const double seconds = std::clamp(json.Number().value_or(0), 0.0, kMost);
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

bool Says(const Json& answer, std::string_view directive) {
    return std::ranges::any_of(answer.At("/directives").Items(),
                               [&](const Json& one) { return one.Text() == directive; });
}

// The record of a run, for the kinds whose executors need all of it.
Result<model::Run> RecordedRun(const Json& item) {
    const Json record = item.At("/run");
    const Json line = record.Has("/run") ? record : Json::Object().With("/run", record);
    KSANA_TRY(codec::Record read, codec::RecordFromLine(line.Compact()));
    auto* const run = std::get_if<model::Run>(&read);
    if (run == nullptr) return Error(Code::kInvalidArgument, "is no record of a run");
    return std::move(*run);
}

Result<model::Run> PlainRun(const Json& item) {
    model::Run run;
    const auto id = Uuid::Parse(item.TextAt("/run_id"));
    if (!id) return Error(Code::kInvalidArgument, "has no run_id");
    run.id = *id;
    run.job_id = item.TextAt("/job_id");
    run.tenant = item.TextAt("/tenant");
    run.category = item.TextAt("/category");
    run.creator = item.TextAt("/creator");
    run.priority = static_cast<std::int32_t>(item.At("/priority").Int().value_or(0));
    const Json payload = item.At("/payload");
    if (!payload.IsNull()) run.payload = payload.Compact();
    if (item.Has("/nominal_at")) {
        KSANA_TRY(run.nominal_at, ParseTime(item.TextAt("/nominal_at")));
    }
    if (item.Has("/parent")) run.parent = Uuid::Parse(item.TextAt("/parent"));
    return run;
}

Result<Claimed> ClaimedRun(const Json& item, TimePoint now) {
    KSANA_TRY(model::Run run, item.Has("/run") ? RecordedRun(item) : PlainRun(item));
    const std::string kind = item.TextAt("/kind");
    if (!kind.empty()) {
        const auto known = model::FromName<model::ActionKind>(kind);
        if (!known) return Error(Code::kInvalidArgument, "has the unknown kind " + kind);
        run.kind = *known;
    }
    Claimed claimed;
    claimed.lease = Seconds(item.At("/lease_expires_in"));
    claimed.deadline = Seconds(item.At("/deadline_in"));
    run.type = item.TextAt("/type");
    KSANA_TRY(run.policy.timeout, ParseDuration(item.TextAt("/timeout")));
    model::RunStatus& status = run.status;
    status.state = model::RunState::kRunning;
    status.exec_id = item.TextAt("/exec_id");
    if (status.exec_id.empty()) return Error(Code::kInvalidArgument, "has no exec_id");
    status.fence = item.At("/fence").Int().value_or(0);
    status.attempt = static_cast<std::int32_t>(item.At("/attempt").Int().value_or(1));
    // The clocks of server and worker may differ.
    status.started_at = now;
    status.deadline = now + claimed.deadline;
    status.lease_until = now + claimed.lease;
    // Decides about the flags too: what the server does not record is not recorded below it.
    if (const auto trace = model::ParseTraceParent(item.TextAt("/traceparent"))) {
        run.trace_parent = model::FormatTraceParent(*trace);
    }
    std::shared_ptr<const model::Job> job;
    if (item.At("/job").IsObject()) {
        auto made = std::make_shared<model::Job>();
        KSANA_TRY(made->definition(), codec::JobFromView(item.At("/job").Compact()));
        made->id = run.job_id;
        job = std::move(made);
    }
    claimed.attempt = engine::MakeAttempt(std::move(run), std::move(job));
    return claimed;
}

}  // namespace

std::string PathOf(const Identity& who, std::string_view verb) {
    return "/api/v1/workers/" + PercentEncode(who.name) + std::string(verb);
}

std::string RegistrationBody(const Identity& who) {
    JsonOutput output;
    output.BeginObject();
    output.TextMember("name", who.name);
    output.TextMember("incarnation", who.incarnation.ToString());
    output.TextMember("host", who.host);
    output.TextMember("version", who.version);
    WriteKinds(output, who);
    WriteWords(output, "types", who.types);
    output.Key("slots");
    output.Int(who.slots);
    output.Key("labels");
    output.BeginObject();
    for (const auto& [name, value] : who.labels) output.TextMember(name, value);
    output.EndObject();
    output.EndObject();
    return output.Take();
}

std::string HeartbeatBody(const Identity& who, std::size_t busy, bool draining) {
    JsonOutput output;
    output.BeginObject();
    output.TextMember("incarnation", who.incarnation.ToString());
    output.Key("busy");
    output.Unsigned(busy);
    if (draining) {
        output.Key("draining");
        output.Bool(true);
    }
    output.EndObject();
    return output.Take();
}

std::string ClaimBody(const Identity& who, const ClaimWish& wish) {
    JsonOutput output;
    output.BeginObject();
    output.TextMember("worker", who.name);
    WriteClaim(output, who, wish);
    output.EndObject();
    return output.Take();
}

std::string ExchangeBody(const Identity& who, std::span<const std::string> reports,
                         const std::optional<ClaimWish>& claim) {
    JsonOutput output;
    output.BeginObject();
    output.TextMember("worker", who.name);
    output.Key("reports");
    output.BeginArray();
    for (const std::string& report : reports) output.Raw(report);
    output.EndArray();
    if (claim) {
        output.Key("claim");
        output.BeginObject();
        WriteClaim(output, who, *claim);
        output.EndObject();
    }
    output.EndObject();
    return output.Take();
}

std::vector<std::string> BeatReports(const model::Run& run, Duration lease,
                                     const engine::AttemptNews& news) {
    std::vector<std::vector<std::string>> portions = Portions(news.log);
    if (portions.empty()) portions.emplace_back();
    std::vector<std::string> reports;
    for (const std::vector<std::string>& lines : portions) {
        JsonOutput output;
        BeginReport(output, run, model::AgentOutcome::kHeartbeat);
        output.TextMember("lease", FormatDuration(lease));
        if (reports.empty() && news.progress) {
            output.Key("progress");
            output.Int(std::clamp(*news.progress, 0, 100));
        }
        if (reports.empty() && (news.progress || !news.note.empty())) {
            output.TextMember("note", Clean(news.note, model::kMaxNoteLength));
        }
        WriteLines(output, lines);
        output.EndObject();
        reports.push_back(output.Take());
    }
    return reports;
}

std::vector<std::string> EndReports(const model::Run& run, const Event& event, Duration lease,
                                    std::string log) {
    std::vector<std::string> reports;
    if (!log.empty()) reports = BeatReports(run, lease, {.log = std::move(log)});
    const model::AgentOutcome outcome = OutcomeOf(event.kind);
    JsonOutput output;
    BeginReport(output, run, outcome);
    const bool failed = outcome == model::AgentOutcome::kFailed;
    const bool timed_out = outcome == model::AgentOutcome::kTimedOut;
    const bool succeeded = outcome == model::AgentOutcome::kSucceeded;
    if (succeeded && !event.result.empty()) {
        output.Key("result");
        output.Raw(event.result);
    }
    if (failed || timed_out) WriteFailure(output, event);
    if (failed) WriteRetry(output, event);
    if (outcome == model::AgentOutcome::kSnoozed) {
        const Duration after = event.after.value_or(Duration::zero());
        output.TextMember("after", FormatDuration(std::min(after, model::kMaxSnooze)));
    }
    const bool detailed = failed || timed_out || succeeded;
    if (detailed && !event.detail.empty() && event.detail.size() <= model::kMaxDetail) {
        output.Key("detail");
        output.Raw(event.detail);
    }
    output.EndObject();
    reports.push_back(output.Take());
    return reports;
}

std::vector<Claimed> ClaimedFrom(const Json& answer, TimePoint now) {
    std::vector<Claimed> claimed;
    for (const Json& item : answer.At("/runs").Items()) {
        auto run = ClaimedRun(item, now);
        if (run) {
            claimed.push_back(*std::move(run));
            continue;
        }
        Log(LogLevel::kError, "a claimed run cannot be read, its lease will end",
            {{"run_id", Printable(item.TextAt("/run_id"))}, {"error", run.error().Describe()}});
    }
    return claimed;
}

std::vector<Verdict> VerdictsFrom(const Json& answer) {
    std::vector<Verdict> verdicts;
    for (const Json& item : answer.At("/reports").Items()) {
        verdicts.push_back({.ok = item.TextAt("/verdict") == "ok",
                            .cancel = Says(item, "cancel"),
                            .drain = Says(item, "drain"),
                            .reason = item.TextAt("/verdict") + " " + item.TextAt("/reason")});
    }
    return verdicts;
}

BeatAnswer BeatAnswerFrom(const Json& answer) {
    BeatAnswer read{.heartbeat_in = {}, .drain = Says(answer, "drain")};
    if (answer.Has("/heartbeat_in")) read.heartbeat_in = Seconds(answer.At("/heartbeat_in"));
    return read;
}

}  // namespace ksana::worker
