#include "ksana/api/edge/health_routes.hpp"

#include <fmt/core.h>

#include <memory>

namespace ksana::api {
namespace {

using http_server::AsyncHandler;
using http_server::Handler;
using http_server::JsonResponse;
using http_server::Permission;
using http_server::Reply;
using http_server::Request;
using http_server::Response;
using http_server::Route;
using http_server::TextResponse;
using http_server::Where;

// The text of a health answer: one line for each check, then the verdict. Error messages are shown
// only with ?verbose, because they may name hosts. Lives in one answer.
class Report {
  public:
    explicit Report(bool verbose) : verbose_(verbose) {}

    void Add(const std::string& name, const Result<void>& result, bool informs = false) {
        well_ = well_ && (informs || result.has_value());
        const char sign = informs ? '!' : '-';
        if (!verbose_) {
            if (!result) lines_ += fmt::format("[{}] {} failed\n", sign, name);
        } else if (result) {
            lines_ += fmt::format("[+] {} ok\n", name);
        } else {
            lines_ += fmt::format("[{}] {} failed: {}\n", sign, name, result.error().message);
        }
    }
    void Add(const std::vector<HealthCheck>& checks) {
        for (const HealthCheck& check : checks) Add(check.name, check.check(), check.informs);
    }

    Response Answer() && {
        lines_ += well_ ? "ok\n" : "not ok\n";
        return TextResponse(well_ ? 200 : 503, std::move(lines_));
    }

  private:
    const bool verbose_;
    bool well_ = true;
    std::string lines_;
};

Response Answer(const std::vector<HealthCheck>& checks, const Request& request) {
    Report report(request.QueryValue("verbose").has_value());
    report.Add(checks);
    return std::move(report).Answer();
}

// Runs on the I/O thread and answers later, because all threads of the pool may be waiting for the
// store.
void AnswerReady(const std::shared_ptr<const Health>& health, const Request& request, Reply reply) {
    const bool verbose = request.QueryValue("verbose").has_value();
    const auto kept = std::make_shared<Reply>(std::move(reply));
    health->store->Ask([health, verbose, kept](const Result<void>& result) {
        Report report(verbose);
        report.Add(health->store->name(), result);
        report.Add(health->ready);
        kept->Send(std::move(report).Answer());
    });
}

Route ReadyRoute(const std::shared_ptr<const Health>& health) {
    const std::string words = "Whether it can serve";
    if (health->store == nullptr) {
        return Route(HttpMethod::kGet, "/readyz", Permission::kPublic, words, Where::kPool,
                     Handler([health](const Request& request) -> Response {
                         return Answer(health->ready, request);
                     }))
            .ForProbes();
    }
    return Route(HttpMethod::kGet, "/readyz", Permission::kPublic, words, Where::kInline,
                 AsyncHandler([health](const Request& request, Reply reply) {
                     AnswerReady(health, request, std::move(reply));
                 }))
        .ForProbes();
}

}  // namespace

void AddHealthRoutes(http_server::Router& router, Health health) {
    const auto shared = std::make_shared<const Health>(std::move(health));
    router.Add(Route(HttpMethod::kGet, "/livez", Permission::kPublic,
                     "Whether the process is alive", Where::kInline,
                     Handler([shared](const Request& request) -> Response {
                         return Answer(shared->live, request);
                     }))
                   .ForProbes());
    router.Add(ReadyRoute(shared));
    router.Add(Route(HttpMethod::kGet, "/health", Permission::kPublic,
                     "Answers as long as the process lives", Where::kInline,
                     Handler([](const Request&) -> Response {
                         return JsonResponse(200, R"({"status":"ok"})");
                     }))
                   .ForProbes());
    router.Add(Route(HttpMethod::kGet, "/metrics", Permission::kRead, "Metrics for Prometheus",
                     Where::kPool, Handler([shared](const Request& request) -> Response {
                         const auto accept = request.headers.Find("Accept").value_or("");
                         telemetry::ScrapeAnswer answer = shared->metrics.Answer(accept);
                         Response response = TextResponse(200, std::move(answer.text));
                         response.content_type = answer.content_type;
                         return response;
                     })));
}

}  // namespace ksana::api
