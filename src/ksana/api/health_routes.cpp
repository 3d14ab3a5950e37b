#include "ksana/api/health_routes.hpp"

#include <fmt/core.h>

#include <memory>

namespace ksana::api {
namespace {

using http_server::Handler;
using http_server::JsonResponse;
using http_server::Method;
using http_server::Permission;
using http_server::Request;
using http_server::Response;
using http_server::Route;
using http_server::TextResponse;
using http_server::Where;

constexpr std::string_view kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

// What is wrong is told only to those who ask for it: it may name hosts.
Response Answer(const std::vector<HealthCheck>& checks, bool verbose) {
    std::string lines;
    bool well = true;
    for (const HealthCheck& check : checks) {
        const auto result = check.check();
        well = well && result.has_value();
        if (verbose) {
            lines += result
                         ? fmt::format("[+] {} ok\n", check.name)
                         : fmt::format("[-] {} failed: {}\n", check.name, result.error().message);
        } else if (!result) {
            lines += fmt::format("[-] {} failed\n", check.name);
        }
    }
    lines += well ? "ok\n" : "not ok\n";
    return TextResponse(well ? 200 : 503, std::move(lines));
}

}  // namespace

void AddHealthRoutes(http_server::Router& router, Health health) {
    const auto shared = std::make_shared<const Health>(std::move(health));
    router.Add(Route(Method::kGet, "/livez", Permission::kPublic, "Whether the process is alive",
                     Where::kInline, Handler([shared](const Request& request) -> Response {
                         return Answer(shared->live, request.QueryValue("verbose").has_value());
                     })));
    router.Add(Route(Method::kGet, "/readyz", Permission::kPublic, "Whether it can serve",
                     Where::kPool, Handler([shared](const Request& request) -> Response {
                         return Answer(shared->ready, request.QueryValue("verbose").has_value());
                     })));
    router.Add(Route(Method::kGet, "/health", Permission::kPublic,
                     "Answers as long as the process lives", Where::kInline,
                     Handler([](const Request&) -> Response {
                         return JsonResponse(200, R"({"status":"ok"})");
                     })));
    router.Add(Route(Method::kGet, "/metrics", Permission::kRead, "Metrics for Prometheus",
                     Where::kPool, Handler([shared](const Request&) -> Response {
                         Response response = TextResponse(200, shared->metrics.Scrape());
                         response.content_type = kMetricsType;
                         return response;
                     })));
}

}  // namespace ksana::api
