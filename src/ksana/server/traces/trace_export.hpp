#pragma once

#include <memory>

#include "ksana/http_client/client.hpp"
#include "ksana/server/traces/run_traces.hpp"
#include "ksana/server/traces/trace_settings.hpp"

namespace ksana::server {

// Everything that the export of spans needs: a client of its own, so that neither the targets of
// jobs nor their egress rules are in its way, the exporter, and the observer that feeds it. Owned
// by Application. Start and Stop on the main thread.
class TraceExport final : public Service {
  public:
    // All but `settings` must outlive this object.
    TraceExport(const TraceSettings& settings, store::Store& store, engine::Observer& next,
                telemetry::Registry& registry, Clock& clock, Random& random);

    ~TraceExport() override { Stop(); }

    std::string_view name() const override { return "trace-export"; }
    Result<void> Start() override;
    void Stop() override;

    engine::Observer& observer() { return runs_; }

  private:
    telemetry::ExportAnswer Send(std::string body, bool gzip, Duration timeout);

    const std::string url_;
    const std::vector<http_client::Header> headers_;
    const Clock& clock_;
    http_client::Client client_;
    telemetry::SpanExporter exporter_;
    RunTraces runs_;
};

// Returns null if no receiver is named.
std::unique_ptr<TraceExport> MakeTraceExport(const TraceSettings& settings, store::Store& store,
                                             engine::Observer& next, telemetry::Registry& registry,
                                             Clock& clock, Random& random);

}  // namespace ksana::server
