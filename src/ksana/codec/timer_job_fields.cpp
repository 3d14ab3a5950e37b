#include "ksana/codec/timer_job_fields.hpp"

#include <fmt/core.h>

#include <array>
#include <optional>

#include "ksana/codec/job_fields.hpp"
#include "ksana/codec/value_writer.hpp"
#include "ksana/model/vocabulary.hpp"

namespace ksana::codec {

namespace json = boost::json;
using model::Job;
using model::RetryPolicy;
using model::RunState;
using schedule::ScheduleKind;
using schedule::ScheduleSpec;

namespace {

constexpr std::string_view kPaused = "paused";

struct StatusWord {
    std::string_view word;
    std::optional<RunState> state;
};

constexpr std::array<StatusWord, 7> kStatusWords = {{{"", std::nullopt},
                                                     {"success", RunState::kSucceeded},
                                                     {"failed", RunState::kFailed},
                                                     {"timeout", RunState::kTimedOut},
                                                     {"skipped", RunState::kSkipped},
                                                     {kPaused, std::nullopt},
                                                     {"missed", RunState::kMissed}}};

std::string_view LastStatus(const Job& job) {
    if (!job.enabled) return kPaused;
    if (!job.last_state) return "";
    return model::WordFor(model::Dialect::kTimer, *job.last_state, 0).value_or("");
}

// The policy that max_retries and retry_backoff stand for.
RetryPolicy PlainRetry(std::int32_t max_retries, Duration backoff) {
    RetryPolicy retry;
    retry.strategy = model::RetryStrategy::kFixed;
    retry.max_retries = max_retries;
    retry.interval = backoff;
    return retry;
}

bool IsPlain(const RetryPolicy& retry) {
    return retry == PlainRetry(retry.max_retries, retry.interval);
}

json::value TimeOrBlank(const ValueWriter& writer, const std::optional<TimePoint>& instant) {
    return instant ? writer.Make(*instant) : writer.Plain("");
}

// What `object` has not yet, in the order of `rest`.
void AddRest(json::object& object, json::object& rest) {
    for (auto& member : rest) object.emplace(member.key(), std::move(member.value()));
}

json::object ScheduleObject(const ValueWriter& writer, const ScheduleSpec& spec) {
    json::object object{{"kind", writer.Make(spec.kind)}};
    switch (spec.kind) {
        case ScheduleKind::kOnce:
            object["run_at"] = writer.Make(spec.run_at);
            break;
        case ScheduleKind::kEvery:
            object["every"] = writer.Make(spec.every);
            object["start_at"] = TimeOrBlank(writer, spec.start_at);
            object["jitter"] = writer.Make(spec.jitter);
            break;
        case ScheduleKind::kCron:
            object["cron"] = writer.Make(spec.cron);
            break;
    }
    json::object rest = writer.Fields(spec, false);
    AddRest(object, rest);
    return object;
}

}  // namespace

json::object TimerJobObject(const Job& job) {
    const ValueWriter writer(JsonForm::kJobsFile);
    json::object rest = writer.Fields(job, false);
    json::object object;
    const auto take = [&object, &rest](std::string_view key) {
        object.emplace(key, std::move(rest[key]));
    };
    object["id"] = writer.Make(job.id);
    object["name"] = writer.Make(job.name);
    object["enabled"] = job.enabled;
    take("type");
    take(model::NameOf(KindOf(job.action)));
    object["schedule"] = ScheduleObject(writer, job.schedule);
    if (job.timeout) take("timeout");
    if (job.retry && IsPlain(*job.retry)) {
        object["max_retries"] = job.retry->max_retries;
        object["retry_backoff"] = writer.Make(job.retry->interval);
        rest.stable_erase("retry");
    }
    object["last_run_at"] = TimeOrBlank(writer, job.last_run_at);
    object["next_run_at"] = TimeOrBlank(writer, job.next_run_at);
    object["last_status"] = writer.Plain(LastStatus(job));
    object["last_error"] = writer.Make(job.last_error);
    AddRest(object, rest);
    return object;
}

namespace {

void ReadRetry(ObjectReader& object, Job& job) {
    std::optional<std::int32_t> max_retries;
    std::optional<Duration> backoff;
    object.Optional("max_retries", max_retries);
    object.Optional("retry_backoff", backoff);
    if (!max_retries && !backoff) return;
    if (job.retry) {
        const std::string_view which = max_retries ? "max_retries" : "retry_backoff";
        object.reader().Fault(fmt::format("{}/{}", object.path(), which),
                              "does not go with \"retry\", which says it too");
        return;
    }
    const RetryPolicy usual;
    job.retry =
        PlainRetry(max_retries.value_or(usual.max_retries), backoff.value_or(usual.interval));
}

void ReadLastStatus(ObjectReader& object, Job& job) {
    std::string text;
    object.Optional("last_status", text);
    std::array<std::string_view, kStatusWords.size()> words;
    for (std::size_t i = 0; i < words.size(); ++i) {
        words.at(i) = kStatusWords.at(i).word;
        if (words.at(i) != text) continue;
        job.last_state = kStatusWords.at(i).state;
        return;
    }
    object.reader().FaultUnknownName(object.path() + "/last_status", text,
                                     std::span(words).subspan(1));
}

}  // namespace

void ReadTimerJob(JsonReader& reader, const Node& node, Job& job) {
    ObjectReader object(reader, node);
    FieldReader<Job> definition(object, job);
    FieldsOf<Job>::Visit(definition);
    ReadRetry(object, job);
    object.Optional("last_run_at", job.last_run_at);
    object.Optional("next_run_at", job.next_run_at);
    ReadLastStatus(object, job);
    object.Optional("last_error", job.last_error);
    object.Finish();
}

}  // namespace ksana::codec
