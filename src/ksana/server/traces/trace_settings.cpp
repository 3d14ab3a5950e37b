#include "ksana/server/traces/trace_settings.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "ksana/base/process/host_name.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/http_client/call_check.hpp"

namespace ksana::server {
namespace {

constexpr std::size_t kMaxPairs = 100;
constexpr std::size_t kMaxShown = 60;

// What is being read. Lives during one call of TraceSettingsOf.
struct Reading {
    TraceSettings& settings;

    void Warn(std::string_view name, std::string_view value, std::string_view why) const {
        settings.warnings.push_back(
            fmt::format("{}={}: {}", name, Excerpt(Printable(value), kMaxShown), why));
    }
    // Does not show the value: it may be a secret.
    void WarnUnseen(std::string_view name, std::string_view why) const {
        settings.warnings.push_back(fmt::format("{}: {}", name, why));
    }
};

using Read = void (*)(const Reading& reading, std::string_view name, const std::string& value);

std::string_view Trimmed(std::string_view text) {
    const std::size_t from = text.find_first_not_of(" \t");
    if (from == std::string_view::npos) return {};
    return text.substr(from, text.find_last_not_of(" \t") + 1 - from);
}

int DigitOf(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// Returns nothing if a percent sign is not followed by two hex digits.
std::optional<std::string> PercentDecoded(std::string_view text) {
    std::string decoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            decoded += text[i];
            continue;
        }
        if (i + 2 >= text.size()) return std::nullopt;
        const int high = DigitOf(text[i + 1]);
        const int low = DigitOf(text[i + 2]);
        if (high < 0 || low < 0) return std::nullopt;
        decoded += static_cast<char>(16 * high + low);
        i += 2;
    }
    return decoded;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

// Reads "name=value,name=value" with percent-encoded values. Returns nothing if it is malformed.
std::optional<Pairs> PairsIn(std::string_view text) {
    Pairs pairs;
    while (!text.empty() && pairs.size() < kMaxPairs) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const std::string_view item = Trimmed(text.substr(0, comma));
        text.remove_prefix(std::min(comma + 1, text.size()));
        if (item.empty()) continue;
        const std::size_t equals = item.find('=');
        if (equals == std::string_view::npos || equals == 0) return std::nullopt;
        auto value = PercentDecoded(Trimmed(item.substr(equals + 1)));
        if (!value || !IsUtf8(*value)) return std::nullopt;
        pairs.emplace_back(Trimmed(item.substr(0, equals)), *std::move(value));
    }
    return pairs;
}

std::optional<std::int64_t> NumberIn(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

bool IsUrl(const std::string& url) {
    return url.starts_with("http://") || url.starts_with("https://");
}

void ReadEndpoint(const Reading& reading, std::string_view name, const std::string& value) {
    if (!IsUrl(value)) return reading.Warn(name, value, "is no URL of http or https; ignored");
    reading.settings.url = value + (value.ends_with('/') ? "v1/traces" : "/v1/traces");
}

// This one is used as it is.
void ReadTracesEndpoint(const Reading& reading, std::string_view name, const std::string& value) {
    if (!IsUrl(value)) return reading.Warn(name, value, "is no URL of http or https; ignored");
    reading.settings.url = value;
}

void ReadHeaders(const Reading& reading, std::string_view name, const std::string& value) {
    const auto pairs = PairsIn(value);
    if (!pairs) return reading.WarnUnseen(name, "is no list of name=value; ignored");
    std::vector<http_client::Header> headers;
    for (const auto& [header, text] : *pairs) headers.push_back({header, text});
    const auto fault = http_client::FaultOf({.url = "http://localhost", .headers = headers});
    if (fault) return reading.WarnUnseen(name, "has a header that cannot be sent; ignored");
    reading.settings.headers = std::move(headers);
}

void ReadTimeout(const Reading& reading, std::string_view name, const std::string& value) {
    const auto number = NumberIn(value);
    constexpr std::int64_t kMost = 600'000;
    if (!number || *number < 1 || *number > kMost) {
        return reading.Warn(name, value, "is no number of milliseconds from 1 to 600000; ignored");
    }
    reading.settings.exporter.timeout = std::chrono::milliseconds(*number);
}

void ReadCertificate(const Reading& reading, std::string_view /*name*/, const std::string& value) {
    reading.settings.ca_file = value;
}

void ReadCompression(const Reading& reading, std::string_view name, const std::string& value) {
    if (value != "gzip" && value != "none") {
        return reading.Warn(name, value, "is neither gzip nor none; ignored");
    }
    reading.settings.exporter.gzip = value == "gzip";
}

void ReadProtocol(const Reading& reading, std::string_view name, const std::string& value) {
    if (value == "http/json") return;
    reading.Warn(name, value, "is not supported; http/json is used");
}

void ReadExporterName(const Reading& reading, std::string_view name, const std::string& value) {
    if (value == "none") reading.settings.url.clear();
    if (value == "none" || value == "otlp") return;
    reading.Warn(name, value, "is neither otlp nor none; ignored");
}

void SetAttribute(TraceSettings& settings, const std::string& key, std::string value) {
    auto& all = settings.exporter.resource.attributes;
    const auto found = std::ranges::find(all, key, &telemetry::SpanAttribute::key);
    if (found != all.end()) {
        found->value = std::move(value);
    } else {
        all.push_back({key, std::move(value)});
    }
}

void ReadResource(const Reading& reading, std::string_view name, const std::string& value) {
    const auto pairs = PairsIn(value);
    if (!pairs) return reading.Warn(name, value, "is no list of name=value; ignored");
    for (const auto& [key, text] : *pairs) SetAttribute(reading.settings, key, text);
}

void ReadServiceName(const Reading& reading, std::string_view name, const std::string& value) {
    if (!IsUtf8(value)) return reading.Warn(name, value, "is not UTF-8; ignored");
    SetAttribute(reading.settings, "service.name", value);
}

void ReadSampler(const Reading& reading, std::string_view name, const std::string& value) {
    constexpr std::string_view kParentBased = "parentbased_";
    std::string_view rest = value;
    model::TraceSampler sampler = reading.settings.sampler;
    sampler.parent_based = rest.starts_with(kParentBased);
    if (sampler.parent_based) rest.remove_prefix(kParentBased.size());
    const auto kind = model::FromName<model::TraceSampler::Kind>(rest);
    if (!kind) return reading.Warn(name, value, "is no known sampler; ignored");
    sampler.kind = *kind;
    reading.settings.sampler = sampler;
}

void ReadSamplerArgument(const Reading& reading, std::string_view name, const std::string& value) {
    double ratio = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), ratio);
    if (error != std::errc() || end != value.data() + value.size() || !(ratio >= 0 && ratio <= 1)) {
        return reading.Warn(name, value, "is no number from 0 to 1; ignored");
    }
    reading.settings.sampler.ratio = ratio;
}

void ReadDelay(const Reading& reading, std::string_view name, const std::string& value) {
    const auto number = NumberIn(value);
    constexpr std::int64_t kMost = 3'600'000;
    if (!number || *number < 0 || *number > kMost) {
        return reading.Warn(name, value, "is no number of milliseconds up to 3600000; ignored");
    }
    reading.settings.exporter.delay = std::chrono::milliseconds(*number);
}

void ReadSize(const Reading& reading, std::string_view name, const std::string& value,
              std::size_t& size) {
    const auto number = NumberIn(value);
    constexpr std::int64_t kMost = 1'000'000;
    if (!number || *number < 1 || *number > kMost) {
        return reading.Warn(name, value, "is no number from 1 to 1000000; ignored");
    }
    size = static_cast<std::size_t>(*number);
}

void ReadQueueSize(const Reading& reading, std::string_view name, const std::string& value) {
    ReadSize(reading, name, value, reading.settings.exporter.max_queue);
}

void ReadBatchSize(const Reading& reading, std::string_view name, const std::string& value) {
    ReadSize(reading, name, value, reading.settings.exporter.batch);
}

// OTEL_SDK_DISABLED: only "true" in any case switches it off.
void ReadDisabled(const Reading& reading, std::string_view name, const std::string& value) {
    std::string word = value;
    std::ranges::transform(word, word.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    if (word == "true") return reading.settings.url.clear();
    if (word != "false") reading.Warn(name, value, "is neither true nor false; ignored");
}

struct Variable {
    std::string_view name;
    Read read;
};

// In this order: a later one overrides an earlier one.
constexpr std::array kVariables = {
    Variable{"OTEL_EXPORTER_OTLP_ENDPOINT", ReadEndpoint},
    Variable{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", ReadTracesEndpoint},
    Variable{"OTEL_EXPORTER_OTLP_HEADERS", ReadHeaders},
    Variable{"OTEL_EXPORTER_OTLP_TRACES_HEADERS", ReadHeaders},
    Variable{"OTEL_EXPORTER_OTLP_TIMEOUT", ReadTimeout},
    Variable{"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", ReadTimeout},
    Variable{"OTEL_EXPORTER_OTLP_CERTIFICATE", ReadCertificate},
    Variable{"OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", ReadCertificate},
    Variable{"OTEL_EXPORTER_OTLP_COMPRESSION", ReadCompression},
    Variable{"OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", ReadCompression},
    Variable{"OTEL_EXPORTER_OTLP_PROTOCOL", ReadProtocol},
    Variable{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", ReadProtocol},
    Variable{"OTEL_TRACES_EXPORTER", ReadExporterName},
    Variable{"OTEL_RESOURCE_ATTRIBUTES", ReadResource},
    Variable{"OTEL_SERVICE_NAME", ReadServiceName},
    Variable{"OTEL_TRACES_SAMPLER", ReadSampler},
    Variable{"OTEL_TRACES_SAMPLER_ARG", ReadSamplerArgument},
    Variable{"OTEL_BSP_SCHEDULE_DELAY", ReadDelay},
    Variable{"OTEL_BSP_EXPORT_TIMEOUT", ReadTimeout},
    Variable{"OTEL_BSP_MAX_QUEUE_SIZE", ReadQueueSize},
    Variable{"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", ReadBatchSize},
    Variable{"OTEL_SDK_DISABLED", ReadDisabled}};

}  // namespace

std::vector<std::string> TraceVariables() {
    std::vector<std::string> names;
    for (const Variable& variable : kVariables) names.emplace_back(variable.name);
    return names;
}

TraceSettings TraceSettingsOf(const Variables& variables, const std::string& version) {
    TraceSettings settings;
    settings.exporter.resource.scope_version = version;
    SetAttribute(settings, "service.name", "ksana");
    SetAttribute(settings, "service.version", version);
    SetAttribute(settings, "host.name", HostName());
    const Reading reading{settings};
    for (const Variable& variable : kVariables) {
        const auto found = variables.find(std::string(variable.name));
        // An empty value is as good as none.
        if (found != variables.end() && !found->second.empty()) {
            variable.read(reading, variable.name, found->second);
        }
    }
    telemetry::ExporterOptions& exporter = settings.exporter;
    if (exporter.batch > exporter.max_queue) {
        exporter.batch = exporter.max_queue;
        settings.warnings.emplace_back(
            "OTEL_BSP_MAX_EXPORT_BATCH_SIZE is larger than the queue; the size of the queue is "
            "used");
    }
    // Without an exporter nothing samples: the flags are those of the submitter.
    if (settings.url.empty()) settings.sampler = {};
    return settings;
}

}  // namespace ksana::server
