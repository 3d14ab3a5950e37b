#include "ksana/codec/dialects/task_metadata.hpp"

#include <fmt/core.h>

#include "ksana/codec/dialects/task_words.hpp"
#include "ksana/codec/json/value_writer.hpp"
#include "ksana/codec/v1/type_view.hpp"
#include "ksana/model/validate.hpp"

namespace ksana::codec {

using model::Callback;
using model::Callbacks;
using model::RetryPolicy;
using model::RetryStrategy;
using model::RunType;
using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

// Agents of this dialect do not renew leases, and no lease is longer than this.
constexpr std::int64_t kMaxTimeoutMinutes = 24 * 60;
constexpr std::int64_t kMaxIntervalSeconds = 30LL * 24 * 60 * 60;

constexpr std::string_view kStrategies[] = {"none", "fixed_period", "sequence"};

std::string_view WordOf(RetryStrategy strategy) {
    switch (strategy) {
        case RetryStrategy::kNone:
            return kStrategies[0];
        case RetryStrategy::kFixed:
            return kStrategies[1];
        case RetryStrategy::kSequence:
            return kStrategies[2];
        case RetryStrategy::kExponential:
            break;  // only /api/v1 has it; the document has no word for it
    }
    return model::NameOf(strategy);
}

// Writes an integer if the value is one.
template <class Unit>
void WriteCount(JsonOutput& output, Duration value) {
    const auto whole = duration_cast<Unit>(value);
    if (whole == value) return output.Int(whole.count());
    output.Double(duration<double, typename Unit::period>(value).count());
}

void WriteRetry(const ValueWriter& writer, const RetryPolicy& retry) {
    JsonOutput& output = writer.output();
    output.Key("retry_strategy");
    output.Text(WordOf(retry.strategy));
    output.Key("retry_interval");
    WriteCount<seconds>(output, retry.interval);
    output.Key("retry_sequence");
    output.BeginArray();
    for (const Duration step : retry.sequence) WriteCount<seconds>(output, step);
    output.EndArray();
    const bool none = retry.strategy == RetryStrategy::kNone;
    writer.Member("max_error_count", none ? 0 : retry.max_retries);
}

void WriteCallback(const ValueWriter& writer, std::string_view key, const Callback& callback) {
    if (callback.url.empty()) return;
    writer.output().Key(key);
    writer.output().BeginObject();
    writer.Member("url", callback.url);
    writer.Member("method", callback.method);
    writer.output().EndObject();
}

void WriteCallbacks(const ValueWriter& writer, const Callbacks& callbacks) {
    JsonOutput& output = writer.output();
    output.Key("callback");
    if (callbacks == Callbacks{}) return output.Null();
    output.BeginObject();
    WriteCallback(writer, "success", callbacks.success);
    WriteCallback(writer, "error", callbacks.error);
    output.Key("security");
    output.BeginObject();
    writer.Member("type", callbacks.security);
    if (!callbacks.access_key.empty()) writer.Member("ak", callbacks.access_key);
    if (!callbacks.secret_key.empty()) writer.Member("sk", std::string(kSecretMask));
    output.EndObject();
    output.EndObject();
}

// Reads a positive number of seconds or minutes.
template <class Unit>
bool ReadCount(JsonReader& reader, const Node& node, std::int64_t most, Duration& out) {
    std::int64_t count = 1;
    const std::size_t before = reader.ProblemCount();
    reader.Read(node, count);
    if (reader.ProblemCount() != before) return false;
    if (count < 1 || count > most) {
        reader.Fault(node.path, fmt::format("must be 1 to {}", most), "out_of_range");
        return false;
    }
    out = Unit(count);
    return true;
}

bool ReadInterval(JsonReader& reader, const Node& node, Duration& out) {
    return ReadCount<seconds>(reader, node, kMaxIntervalSeconds, out);
}

bool ReadStrategy(ObjectReader& object, RetryStrategy& out) {
    const auto node = object.Find("retry_strategy");
    if (!node) return false;
    std::string word;
    object.reader().Read(*node, word);
    if (!node->value.is_string()) return false;
    for (std::size_t i = 0; i < std::size(kStrategies); ++i) {
        if (kStrategies[i] != word) continue;
        out = static_cast<RetryStrategy>(i);
        return true;
    }
    object.reader().FaultUnknownName(node->path, word, kStrategies);
    return false;
}

// "retry_strategy = none 时为0，即不重试，否则大于0": the number of failures that are followed by a
// retry.
void ReadMaxErrors(ObjectReader& object, bool said, RetryPolicy& retry) {
    const bool none = retry.strategy == RetryStrategy::kNone;
    retry.max_retries = 0;
    const auto node =
        none || !said ? object.Find("max_error_count") : object.FindRequired("max_error_count");
    if (!node) return;
    object.reader().Read(*node, retry.max_retries);
    if (none && retry.max_retries != 0) {
        object.reader().Fault(node->path, "is 0 where the strategy is none");
    } else if (!none && (retry.max_retries < 1 || retry.max_retries > model::kMaxRetries)) {
        object.reader().Fault(node->path, fmt::format("must be 1 to {}", model::kMaxRetries),
                              "out_of_range");
    }
}

// Members of another strategy may be present, as in a copy of an answer; they are ignored.
void ReadRetry(ObjectReader& object, RunType& type) {
    JsonReader& reader = object.reader();
    RetryPolicy retry;
    const bool said = ReadStrategy(object, retry.strategy);
    const bool fixed = said && retry.strategy == RetryStrategy::kFixed;
    const bool sequence = said && retry.strategy == RetryStrategy::kSequence;
    const auto interval =
        fixed ? object.FindRequired("retry_interval") : object.Find("retry_interval");
    if (fixed && interval) (void)ReadInterval(reader, *interval, retry.interval);
    const auto steps =
        sequence ? object.FindRequired("retry_sequence") : object.Find("retry_sequence");
    if (sequence && steps) {
        reader.ReadEach(*steps, retry.sequence, [&reader](const Node& item, Duration& out) {
            (void)ReadInterval(reader, item, out);
        });
        if (steps->value.is_array() && retry.sequence.empty()) {
            reader.Fault(steps->path, "must not be empty");
        }
    }
    ReadMaxErrors(object, said, retry);
    if (said) type.retry = retry;
}

void ReadCallback(ObjectReader& callbacks, std::string_view key, Callback& out) {
    const auto node = callbacks.Find(key);
    if (!node) return;
    ObjectReader object(callbacks.reader(), *node);
    object.Required("url", out.url);
    object.Optional("method", out.method);
    object.Finish();
}

void ReadCallbacks(JsonReader& reader, const Node& node, Callbacks& out, const RunType* before) {
    ObjectReader object(reader, node);
    ReadCallback(object, "success", out.success);
    ReadCallback(object, "error", out.error);
    if (const auto security = object.Find("security")) {
        ObjectReader keys(reader, *security);
        keys.Optional("type", out.security);
        keys.Optional("ak", out.access_key);
        keys.Optional("sk", out.secret_key);
        keys.Finish();
        if (out.secret_key == kSecretMask) {
            out.secret_key = before != nullptr ? before->callbacks.secret_key : std::string();
            if (out.secret_key.empty()) {
                reader.Fault(keys.path() + "/sk", "stands for a secret, and there is none");
            }
        }
    }
    // Document T knows one secret: the previous secret of a rotation in progress stays.
    if (before != nullptr) out.previous_secret_key = before->callbacks.previous_secret_key;
    object.Finish();
}

void ReadConfig(JsonReader& reader, const Node& node, RunType& type, const RunType* before) {
    ObjectReader object(reader, node);
    ReadRetry(object, type);
    if (const auto timeout = object.Find("timeout")) {
        Duration length{};
        if (ReadCount<minutes>(reader, *timeout, kMaxTimeoutMinutes, length)) type.timeout = length;
    }
    object.Optional("need_manual", type.need_manual);
    if (const auto callback = object.Find("callback")) {
        ReadCallbacks(reader, *callback, type.callbacks, before);
    }
    object.Finish();
}

constexpr std::string_view kKeptOfMetadata[] = {"id", "create_date", "update_date"};

}  // namespace

std::string TaskMetadataToJson(const RunType& type, const model::PolicyDefaults& defaults) {
    JsonOutput output;
    const ValueWriter writer(JsonForm::kDefinition, output);
    output.BeginObject();
    writer.Member("id", type.code);
    writer.Member("code", type.code);
    writer.Member("name", type.name);
    writer.Member("category", type.category);
    output.Key("config");
    output.BeginObject();
    WriteRetry(writer, type.retry.value_or(defaults.retry));
    output.Key("timeout");
    WriteCount<minutes>(output, type.timeout.value_or(defaults.timeout));
    writer.Member("need_manual", type.need_manual);
    WriteCallbacks(writer, type.callbacks);
    output.EndObject();
    writer.Member("create_date", type.created_at);
    writer.Member("update_date", type.updated_at);
    output.EndObject();
    return output.Take();
}

Result<RunType> TaskMetadataFromJson(std::string_view text, const RunType* before) {
    return ReadDocument<RunType>(text, JsonForm::kDefinition, {},
                                 [&](JsonReader& reader, const Node& node, RunType& type) {
                                     ObjectReader object(reader, node);
                                     if (before != nullptr) type.code = before->code;
                                     object.Optional("code", type.code);
                                     object.Optional("name", type.name);
                                     object.Optional("category", type.category);
                                     if (const auto config = object.Find("config")) {
                                         ReadConfig(reader, *config, type, before);
                                     }
                                     Ignore(object, kKeptOfMetadata);
                                     object.Finish();
                                 });
}

}  // namespace ksana::codec
