#include "ksana/codec/dialects/timer_job_fields.hpp"

#include <fmt/core.h>

#include <array>
#include <optional>

#include "ksana/codec/json/value_writer.hpp"
#include "ksana/codec/v1/job_fields.hpp"
#include "ksana/model/vocabulary.hpp"

namespace ksana::codec {

using model::Job;
using model::JobDefinition;
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
    if (!job.state.last_state) return "";
    return model::WordFor(model::Dialect::kTimer, *job.state.last_state, 0).value_or("");
}

// Returns the policy that max_retries and retry_backoff describe.
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

void TimeOrBlank(const ValueWriter& writer, std::string_view key,
                 const std::optional<TimePoint>& instant) {
    writer.output().Key(key);
    if (instant) {
        writer.Write(*instant);
    } else {
        writer.output().Text("");
    }
}

// Writes like FieldWriter, without the members for which `written` returns true: those are in the
// text already, in their own order. Lives in one call of WriteRest.
template <class T>
class RestWriter {
  public:
    using Written = bool (*)(const T& in, std::string_view key);

    RestWriter(const ValueWriter& writer, const T& in, Written written)
        : fields_(writer, in, false), in_(in), written_(written) {}

    JsonForm form() const { return fields_.form(); }

    template <class M>
    [[gnu::always_inline]] void operator()(std::string_view key, M T::*member,
                                           const Doc& /*doc*/ = {}) {
        if (!written_(in_, key)) fields_(key, member);
    }
    template <class M>
    [[gnu::always_inline]] void Required(std::string_view key, M T::*member,
                                         const Doc& /*doc*/ = {}) {
        if (!written_(in_, key)) fields_.Required(key, member);
    }
    template <class M>
    [[gnu::always_inline]] void Rare(std::string_view key, M T::*member, const Doc& /*doc*/ = {}) {
        if (!written_(in_, key)) fields_.Rare(key, member);
    }
    template <class M>
    [[gnu::always_inline]] void Key(std::string_view key, M T::*member, const Doc& /*doc*/ = {}) {
        if (!written_(in_, key)) fields_.Key(key, member);
    }
    template <class Part>
    void Flat(Part T::*part) {
        fields_.Flat(part);
    }
    template <class Kind>
    bool Is(Kind T::*kind, Kind value) const {
        return fields_.Is(kind, value);
    }
    // The action is written already.
    template <class Kind, class... Parts>
    [[gnu::always_inline]] void Choice(std::string_view /*key*/,
                                       std::variant<Parts...> T::* /*member*/,
                                       const Doc& /*doc*/ = {}) {}

  private:
    FieldWriter<T> fields_;
    const T& in_;
    Written written_;
};

template <class T>
void WriteRest(const ValueWriter& writer, const T& in, typename RestWriter<T>::Written written) {
    RestWriter<T> rest(writer, in, written);
    FieldsOf<T>::Visit(rest);
}

void WriteSchedule(const ValueWriter& writer, const ScheduleSpec& spec) {
    writer.output().BeginObject();
    writer.Member("kind", spec.kind);
    switch (spec.kind) {
        case ScheduleKind::kOnce:
            writer.Member("run_at", spec.run_at);
            break;
        case ScheduleKind::kEvery:
            writer.Member("every", spec.every);
            TimeOrBlank(writer, "start_at", spec.start_at);
            writer.Member("jitter", spec.jitter);
            break;
        case ScheduleKind::kCron:
            writer.Member("cron", spec.cron);
            break;
        case ScheduleKind::kAfter:
            break;  // all its members are written with the rest
    }
    WriteRest<ScheduleSpec>(writer, spec, [](const ScheduleSpec& in, std::string_view key) {
        return key == "kind" || key == "run_at" || key == "every" || key == "cron" ||
               (in.kind == ScheduleKind::kEvery && (key == "start_at" || key == "jitter"));
    });
    writer.output().EndObject();
}

}  // namespace

void WriteTimerJob(JsonOutput& output, const Job& job, const model::PolicyDefaults* defaults) {
    if (defaults != nullptr && !job.retry && !IsPlain(defaults->retry)) {
        Job shown = job;  // for a policy that the documented members cannot express: rare
        shown.retry = defaults->retry;
        WriteTimerJob(output, shown, defaults);
        return;
    }
    const ValueWriter writer(JsonForm::kJobsFile, output);
    output.BeginObject();
    writer.Member("id", job.id);
    writer.Member("name", job.name);
    writer.Member("enabled", job.enabled);
    FieldWriter<JobDefinition>(writer, job, false)
        .Choice<model::ActionKind>("type", &JobDefinition::action);
    output.Key("schedule");
    WriteSchedule(writer, job.schedule);
    const RetryPolicy* retry = job.retry ? &*job.retry : nullptr;
    if (job.timeout) writer.Member("timeout", *job.timeout);
    if (defaults != nullptr) {
        if (!job.timeout) writer.Member("timeout", defaults->timeout);
        if (retry == nullptr) retry = &defaults->retry;
    }
    if (retry != nullptr && IsPlain(*retry)) {
        writer.Member("max_retries", retry->max_retries);
        writer.Member("retry_backoff", retry->interval);
    }
    TimeOrBlank(writer, "last_run_at", job.state.last_run_at);
    TimeOrBlank(writer, "next_run_at", job.state.next_run_at);
    output.Key("last_status");
    output.Text(LastStatus(job));
    writer.Member("last_error", job.state.last_error);
    WriteRest<JobDefinition>(writer, job, [](const JobDefinition& in, std::string_view key) {
        return key == "id" || key == "name" || key == "enabled" || key == "schedule" ||
               key == "timeout" || (key == "retry" && in.retry && IsPlain(*in.retry));
    });
    output.EndObject();
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
        job.state.last_state = kStatusWords.at(i).state;
        return;
    }
    object.reader().FaultUnknownName(object.path() + "/last_status", text,
                                     std::span(words).subspan(1));
}

}  // namespace

void ReadTimerJob(JsonReader& reader, const Node& node, Job& job) {
    ObjectReader object(reader, node);
    FieldReader<JobDefinition> definition(object, job);
    FieldsOf<JobDefinition>::Visit(definition);
    ReadRetry(object, job);
    object.Optional("last_run_at", job.state.last_run_at);
    object.Optional("next_run_at", job.state.next_run_at);
    ReadLastStatus(object, job);
    object.Optional("last_error", job.state.last_error);
    object.Finish();
}

}  // namespace ksana::codec
