#include "ksana/worker/worker_metrics.hpp"

#include <utility>

#include "ksana/http_server/listen_address.hpp"
#include "ksana/model/run/trace_context.hpp"
#include "ksana/telemetry/build_info.hpp"
#include "ksana/worker/wire.hpp"
#include "ksana/worker/worker_loop.hpp"

namespace ksana::worker {
namespace {

using http_server::Handler;
using http_server::Permission;
using http_server::Request;
using http_server::Response;
using http_server::Route;
using http_server::Where;

std::string_view OutcomeOf(model::EventKind kind) {
    switch (kind) {
        case model::EventKind::kSuccess:
            return "succeeded";
        case model::EventKind::kTimeout:
            return "timed_out";
        case model::EventKind::kCancelled:
            return "cancelled";
        case model::EventKind::kShutdown:
            return "released";
        case model::EventKind::kSnooze:
            return "snoozed";
        default:
            return "failed";
    }
}

}  // namespace

WorkerMetrics::WorkerMetrics(const std::string& version, const Clock& clock)
    : clock_(clock),
      process_(registry_),
      attempts_(registry_.AddCounters(
          {"ksana_worker_attempts_total", "Attempts that ended.", {"kind", "outcome"}})),
      durations_(registry_.AddHistograms(
          {"ksana_worker_attempt_seconds", "How long attempts took.", {"kind"}},
          telemetry::DurationBuckets())) {
    build_info_ = registry_.AddCallbackGauge(
        {"ksana_build_info", "1; which build of ksana this is.", {"version", "revision"}},
        [version](telemetry::Samples& samples) {
            samples.Add({version, telemetry::BuildRevision()}, 1);
        });
    AddSuccessRatio();
}

// D-14
void WorkerMetrics::AddSuccessRatio() {
    success_ratio_ = registry_.AddCallbackGauge(
        {"ksana_worker_success_ratio",
         "Share of succeeded attempts among those that succeeded, failed or timed out since the "
         "start."},
        [this](telemetry::Samples& samples) {
            const auto good = static_cast<double>(succeeded_.load());
            const double all = good + static_cast<double>(failed_.load());
            if (all > 0) samples.Add({}, good / all);
        });
}

void WorkerMetrics::Count(const model::Run& run, const model::Event& event, Duration took) {
    const auto exemplar = [&] {
        return telemetry::Exemplar{.trace_id = model::TraceIdOf(run), .at = clock_.Now()};
    };
    const std::string_view outcome = OutcomeOf(event.kind);
    attempts_.With({model::NameOf(run.kind), outcome}).AddOne(exemplar);
    durations_.With({model::NameOf(run.kind)}).Observe(took, exemplar);
    if (outcome == "succeeded") ++succeeded_;
    if (outcome == "failed" || outcome == "timed_out") ++failed_;
}

void WorkerMetrics::Watch(const WorkerLoop& loop, const Wire& wire, std::size_t slots) {
    const auto gauge = [&](const char* name, const char* help, std::function<double()> value) {
        callbacks_.push_back(registry_.AddCallbackGauge(
            {name, help},
            [value = std::move(value)](telemetry::Samples& samples) { samples.Add({}, value()); }));
    };
    gauge("ksana_worker_slots", "Attempts that may run at once.",
          [slots] { return static_cast<double>(slots); });
    gauge("ksana_worker_busy", "Attempts that run now.",
          [&loop] { return static_cast<double>(loop.running()); });
    gauge("ksana_worker_reports_pending", "Ended attempts whose report no server has answered.",
          [&loop] { return static_cast<double>(loop.pending()); });
    gauge("ksana_worker_registered", "1 if a server knows this worker.",
          [&loop] { return loop.registered() ? 1.0 : 0.0; });
    gauge("ksana_worker_server_reachable", "1 if the last call was answered.",
          [&wire] { return wire.reachable() ? 1.0 : 0.0; });
}

Result<std::unique_ptr<http_server::Server>> MakeMetricsServer(const std::string& listen,
                                                               const WorkerMetrics& metrics,
                                                               const Clock& clock, Random& random) {
    KSANA_TRY(http_server::ListenAddress address, http_server::ParseListenAddress(listen));
    http_server::Router router;
    router.Add(Route(HttpMethod::kGet, "/metrics", Permission::kPublic, "Metrics for Prometheus",
                     Where::kInline, Handler([&metrics](const Request& request) -> Response {
                         const auto accept = request.headers.Find("Accept").value_or("");
                         telemetry::ScrapeAnswer answer = metrics.Answer(accept);
                         Response response = http_server::TextResponse(200, std::move(answer.text));
                         response.content_type = answer.content_type;
                         return response;
                     })));
    router.Add(Route(HttpMethod::kGet, "/health", Permission::kPublic,
                     "Answers as long as the process lives", Where::kInline,
                     Handler([](const Request&) -> Response {
                         return http_server::JsonResponse(200, R"({"status":"ok"})");
                     }))
                   .ForProbes());
    http_server::ServerOptions options;
    options.address = std::move(address.address);
    options.port = address.port;
    options.max_connections = 64;
    options.pool_threads = 1;
    options.drain = std::chrono::seconds(1);
    return std::make_unique<http_server::Server>(options, std::move(router), clock, random);
}

}  // namespace ksana::worker
