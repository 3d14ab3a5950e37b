#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ksana/base/time/time.hpp"
#include "ksana/http_client/call.hpp"
#include "ksana/model/run/trace_context.hpp"
#include "ksana/telemetry/traces/span_exporter.hpp"

namespace ksana::server {

// What the OTEL_… variables of OpenTelemetry say, as far as this server obeys them.
struct TraceSettings {
    std::string url;  // of the receiver; empty: spans are not exported
    std::vector<http_client::Header> headers;
    std::string ca_file;  // PEM; empty: the system's certificates
    model::TraceSampler sampler;
    telemetry::ExporterOptions exporter;
    // What is wrong with the variables, for the log: OpenTelemetry wants such values to be ignored.
    std::vector<std::string> warnings;
};

using Variables = std::map<std::string, std::string>;

// Reads the variables; docs/tracing.md lists them. `version` is that of Ksana.
TraceSettings TraceSettingsOf(const Variables& variables, const std::string& version);

// Names of the variables that TraceSettingsOf reads, for the test of the documentation.
std::vector<std::string> TraceVariables();

}  // namespace ksana::server
