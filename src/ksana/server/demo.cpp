#include "ksana/server/demo.hpp"

#include <fmt/core.h>

#include <atomic>
#include <memory>

#include "ksana/base/log/log.hpp"

namespace ksana::server {
namespace {

using http_server::Request;
using http_server::Response;
using http_server::Route;

constexpr Duration kEvery = std::chrono::seconds(5);

model::HttpAction ActionFor(const std::string& server_url) {
    model::HttpAction action;
    action.method = HttpMethod::kPost;
    action.url = server_url + kDemoPath;
    action.body = R"({"run_id":"<filled-by-service>","scheduled_at":"<filled-by-service>"})";
    return action;
}

}  // namespace

void AddDemoRoutes(http_server::Router& router) {
    const auto calls = std::make_shared<std::atomic<std::uint64_t>>(0);
    router.Add(Route(
        HttpMethod::kPost, kDemoPath, http_server::Permission::kPublic,
        "The target of the demo job", http_server::Where::kInline,
        http_server::Handler([calls](const Request& request) -> Response {
            const std::uint64_t count = ++*calls;
            const std::string run(request.headers.Find("X-Ksana-Run-Id").value_or("none"));
            Log(LogLevel::kInfo, "the demo target was called", {{"call", count}, {"run_id", run}});
            return http_server::JsonResponse(200, fmt::format(R"({{"calls":{}}})", count));
        })));
}

Result<void> MakeDemoJob(engine::JobService& service, const std::string& server_url) {
    model::Job job;
    job.id = kDemoJob;
    job.name = "says hello every five seconds";
    job.action = ActionFor(server_url);
    job.schedule.kind = schedule::ScheduleKind::kEvery;
    job.schedule.every = kEvery;
    const engine::Actor by{.user = "demo"};
    auto created = service.Create(job, by);
    if (created) return {};
    if (created.error().code != Code::kAlreadyExists) return std::move(created).error();
    const auto change = [&](model::Job& edited) -> Result<void> {
        edited.action = ActionFor(server_url);
        return {};
    };
    KSANA_TRY([[maybe_unused]] const model::Job changed, service.Change(kDemoJob, {}, change, by));
    return {};
}

}  // namespace ksana::server
