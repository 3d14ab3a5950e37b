#include "ksana/server/traces/trace_settings.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace ksana::server {
namespace {

using Kind = model::TraceSampler::Kind;
using std::chrono::milliseconds;

TraceSettings Of(Variables variables) {
    variables.emplace("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318");
    return TraceSettingsOf(variables, "1.0");
}

std::string AttributeOf(const TraceSettings& settings, const std::string& key) {
    for (const auto& attribute : settings.exporter.resource.attributes) {
        if (attribute.key == key) return std::get<std::string>(attribute.value);
    }
    return "(none)";
}

// D-13
TEST(TraceSettings, WithoutAReceiverNothingIsExportedOrSampled) {
    const TraceSettings settings = TraceSettingsOf({{"OTEL_TRACES_SAMPLER", "always_off"}}, "1.0");
    EXPECT_EQ(settings.url, "");
    EXPECT_EQ(settings.sampler, model::TraceSampler{});
}

TEST(TraceSettings, TheGeneralEndpointGetsAPathTheOtherDoesNot) {
    EXPECT_EQ(Of({}).url, "http://collector:4318/v1/traces");
    EXPECT_EQ(Of({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://h/otlp/"}}).url,
              "http://h/otlp/v1/traces");
    EXPECT_EQ(Of({{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://h/x"}}).url, "https://h/x");
    EXPECT_EQ(Of({{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "h:4318"}}).warnings.size(), 1U);
    EXPECT_EQ(Of({{"OTEL_SDK_DISABLED", "TRUE"}}).url, "");
    EXPECT_EQ(Of({{"OTEL_TRACES_EXPORTER", "none"}}).url, "");
}

TEST(TraceSettings, ReadsLists) {
    const TraceSettings settings =
        Of({{"OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20x%3D, x-team = a "},
            {"OTEL_RESOURCE_ATTRIBUTES", "service.name=other,deployment.environment=caf%C3%A9"},
            {"OTEL_SERVICE_NAME", "billing"}});
    EXPECT_TRUE(settings.warnings.empty());
    EXPECT_EQ(settings.headers,
              (std::vector<http_client::Header>{{"authorization", "Bearer x="}, {"x-team", "a"}}));
    EXPECT_EQ(AttributeOf(settings, "service.name"), "billing");
    EXPECT_EQ(AttributeOf(settings, "deployment.environment"), "café");
    EXPECT_EQ(AttributeOf(settings, "service.version"), "1.0");
}

TEST(TraceSettings, ReadsNumbersAndWords) {
    const TraceSettings settings = Of({{"OTEL_BSP_SCHEDULE_DELAY", "100"},
                                       {"OTEL_BSP_MAX_QUEUE_SIZE", "64"},
                                       {"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "32"},
                                       {"OTEL_EXPORTER_OTLP_TIMEOUT", "2500"},
                                       {"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "1500"},
                                       {"OTEL_EXPORTER_OTLP_COMPRESSION", "none"},
                                       {"OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca.pem"},
                                       {"OTEL_TRACES_SAMPLER", "traceidratio"},
                                       {"OTEL_TRACES_SAMPLER_ARG", "0.25"}});
    EXPECT_TRUE(settings.warnings.empty());
    EXPECT_EQ(settings.exporter.delay, milliseconds(100));
    EXPECT_EQ(settings.exporter.max_queue, 64U);
    EXPECT_EQ(settings.exporter.batch, 32U);
    EXPECT_EQ(settings.exporter.timeout, milliseconds(1'500));
    EXPECT_FALSE(settings.exporter.gzip);
    EXPECT_EQ(settings.ca_file, "/ca.pem");
    EXPECT_EQ(settings.sampler,
              (model::TraceSampler{.kind = Kind::kRatio, .ratio = 0.25, .parent_based = false}));
    EXPECT_TRUE(Of({{"OTEL_TRACES_SAMPLER", "parentbased_always_off"}}).sampler.parent_based);
}

TEST(TraceSettings, WrongValuesAreToldAndIgnored) {
    const TraceSettings plain = Of({});
    const Variables wrong = {{"OTEL_BSP_SCHEDULE_DELAY", "-1"},
                             {"OTEL_BSP_MAX_QUEUE_SIZE", "0"},
                             {"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "many"},
                             {"OTEL_EXPORTER_OTLP_TIMEOUT", "10s"},
                             {"OTEL_EXPORTER_OTLP_COMPRESSION", "zip"},
                             {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"},
                             {"OTEL_EXPORTER_OTLP_HEADERS", "secret"},
                             {"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "Host=secret"},
                             {"OTEL_RESOURCE_ATTRIBUTES", "a=%zz"},
                             {"OTEL_TRACES_SAMPLER", "sometimes"},
                             {"OTEL_TRACES_SAMPLER_ARG", "1.5"},
                             {"OTEL_TRACES_EXPORTER", "zipkin"},
                             {"OTEL_SDK_DISABLED", "yes"}};
    const TraceSettings settings = Of(wrong);
    EXPECT_EQ(settings.warnings.size(), wrong.size());
    EXPECT_EQ(settings.sampler, plain.sampler);
    EXPECT_TRUE(settings.headers.empty());
    EXPECT_EQ(settings.exporter.delay, plain.exporter.delay);
    EXPECT_EQ(settings.exporter.max_queue, plain.exporter.max_queue);
    EXPECT_EQ(settings.exporter.timeout, plain.exporter.timeout);
    for (const std::string& warning : settings.warnings) {
        EXPECT_EQ(warning.find("secret"), std::string::npos) << warning;
    }
    EXPECT_EQ(Of({{"OTEL_BSP_MAX_QUEUE_SIZE", "10"}}).exporter.batch, 10U) << "with a warning";
}

TEST(TraceSettings, TheDocumentNamesEveryVariable) {
    std::ifstream file(KSANA_SOURCE_DIR "/docs/tracing.md");
    std::stringstream text;
    text << file.rdbuf();
    for (const std::string& name : TraceVariables()) {
        EXPECT_NE(text.str().find("`" + name + "`"), std::string::npos) << name;
    }
}

}  // namespace
}  // namespace ksana::server
