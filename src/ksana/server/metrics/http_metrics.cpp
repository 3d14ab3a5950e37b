#include "ksana/server/metrics/http_metrics.hpp"

#include <fmt/core.h>

namespace ksana::server {
namespace {

using telemetry::Samples;

double Number(std::uint64_t count) { return static_cast<double>(count); }

}  // namespace

HttpMetrics::HttpMetrics(telemetry::Registry& registry, const http_server::Statistics& server,
                         const http_client::Client& client) {
    callbacks_.push_back(registry.AddCallbackGauge(
        {"ksana_http_connections_open", "Connections of clients that are open."},
        [&server](Samples& samples) { samples.Add({}, Number(server.connections_open)); }));
    callbacks_.push_back(registry.AddCallbackCounter(
        {"ksana_http_connections_total",
         "Connections of clients, by what became of them.",
         {"fate"}},
        [&server](Samples& samples) {
            samples.Add({"accepted"}, Number(server.connections_accepted));
            samples.Add({"refused"}, Number(server.connections_refused));
            samples.Add({"cut"}, Number(server.connections_cut));
        }));
    callbacks_.push_back(registry.AddCallbackCounter(
        {"ksana_http_answers_total", "Answers to clients, by class of their status.", {"class"}},
        [&server](Samples& samples) {
            for (std::size_t kind = 1; kind < server.answers.size(); ++kind) {
                samples.Add({fmt::format("{}xx", kind)}, Number(server.answers.at(kind)));
            }
        }));
    callbacks_.push_back(registry.AddCallbackCounter(
        {"ksana_http_calls_total", "Calls of targets, by error.", {"error"}},
        [&client](Samples& samples) {
            const auto statistics = client.statistics();
            for (std::size_t n = 0; n < statistics.by_error.size(); ++n) {
                samples.Add({http_client::NameOf(static_cast<http_client::CallError>(n))},
                            Number(statistics.by_error.at(n)));
            }
        }));
    callbacks_.push_back(registry.AddCallbackCounter(
        {"ksana_http_call_connections_total", "Connections to targets.", {"kind"}},
        [&client](Samples& samples) {
            const auto statistics = client.statistics();
            samples.Add({"made"}, Number(statistics.connections_made));
            samples.Add({"reused"}, Number(statistics.connections_reused));
        }));
}

}  // namespace ksana::server
