#include "ksana/api/v1/handlers.hpp"

#include <fmt/core.h>

#include <array>

#include "ksana/api/agents/agent_polls.hpp"
#include "ksana/codec/v1/agent_codec.hpp"
#include "ksana/engine/agents/agent_service.hpp"

namespace ksana::api {
namespace {

using http_server::JsonResponse;
using http_server::Method;
using http_server::Permission;
using http_server::Reply;
using http_server::Request;
using http_server::Response;
using model::AgentOutcome;
using store::Applied;
using store::ApplyVerdict;

// A result of a megabyte, its escapes, and what else a report says.
constexpr std::size_t kMaxReportBody = std::size_t{8} << 20;
constexpr std::size_t kMaxExchangeBody = std::size_t{64} << 20;

std::string_view VerdictName(ApplyVerdict verdict) {
    switch (verdict) {
        case ApplyVerdict::kApplied:
        case ApplyVerdict::kDuplicate:
            return "ok";
        case ApplyVerdict::kStale:
            return "stale";
        case ApplyVerdict::kRefused:
            return "refused";
        case ApplyVerdict::kNotFound:
            return "not_found";
    }
    return "refused";
}

class AgentHandlers {
  public:
    explicit AgentHandlers(const Services& services)
        : agents_(services.agents), hub_(services.agent_hub) {}

    void Claim(const Request& request, Reply reply) const {
        auto claim = codec::AgentClaimFromJson(request.body);
        if (!claim) {
            reply.Fail(claim.error());
            return;
        }
        hub_.Claim({.claim = *std::move(claim), .reply = std::move(reply)});
    }

    void Exchange(const Request& request, Reply reply) const {
        auto wish = codec::AgentExchangeFromJson(request.body, kMaxExchangeBody);
        if (!wish) {
            reply.Fail(wish.error());
            return;
        }
        std::vector<Uuid> ids;
        ids.reserve(wish->reports.size());
        for (const model::AgentReport& report : wish->reports) ids.push_back(report.run_id);
        std::optional<std::uint64_t> seen;
        if (wish->claim && !hub_.OthersWait(*wish->claim)) seen = hub_.commits();
        auto exchanged = agents_.Exchange(std::move(wish->reports),
                                          seen ? wish->claim : std::optional<model::AgentClaim>());
        if (!exchanged) {
            reply.Fail(exchanged.error());
            return;
        }
        std::string reports = AnswersOf(ids, exchanged->applied);
        if (!wish->claim) {
            reply.Send(JsonResponse(200, codec::ExchangeToJson(std::move(reports), {})));
            return;
        }
        hub_.Settle({.claim = *std::move(wish->claim),
                     .reply = std::move(reply),
                     .reports = std::move(reports)},
                    std::move(exchanged->claimed.runs), seen);
    }

    Result<Response> Heartbeat(const Call& call) const {
        KSANA_TRY(model::AgentReport report, ReportOf(call, AgentOutcome::kHeartbeat));
        const Duration lease = report.event.lease;
        KSANA_TRY(const Applied applied, agents_.Report(std::move(report)));
        return JsonResponse(200, codec::HeartbeatToJson(lease, DirectivesOf(applied)));
    }

    Result<Response> End(const Call& call, AgentOutcome outcome) const {
        KSANA_TRY(model::AgentReport report, ReportOf(call, outcome));
        KSANA_TRY_VOID(agents_.Report(std::move(report)));
        return http_server::NoContent();
    }

  private:
    static Result<model::AgentReport> ReportOf(const Call& call, AgentOutcome outcome) {
        KSANA_TRY(const Uuid id, RunIdOf(call.request));
        KSANA_TRY(model::Event event, codec::AgentReportFromJson(call.request.body, outcome));
        return model::AgentReport{.run_id = id, .event = std::move(event)};
    }

    std::vector<std::string_view> DirectivesOf(const Applied& applied) const {
        std::vector<std::string_view> directives;
        const bool runs = applied.state == model::RunState::kRunning;
        if (runs && applied.cancel_requested) directives.emplace_back("cancel");
        if (hub_.draining()) directives.emplace_back("drain");
        return directives;
    }

    std::string AnswersOf(const std::vector<Uuid>& ids, const std::vector<Applied>& applied) const {
        std::vector<codec::ReportAnswer> answers;
        answers.reserve(ids.size());
        for (std::size_t i = 0; i < ids.size(); ++i) {
            answers.push_back({.run_id = ids[i],
                               .verdict = VerdictName(applied[i].verdict),
                               .reason = applied[i].reason,
                               .directives = DirectivesOf(applied[i])});
        }
        return codec::ReportAnswersToJson(answers);
    }

    engine::AgentService& agents_;
    AgentPolls& hub_;
};

struct EndRoute {
    const char* path;
    AgentOutcome outcome;
    const char* description;
};

constexpr std::array<EndRoute, 4> kEnds = {
    {{"/agent/runs/{id}/succeed", AgentOutcome::kSucceeded, "Reports that a run is done"},
     {"/agent/runs/{id}/fail", AgentOutcome::kFailed, "Reports that an attempt failed"},
     {"/agent/runs/{id}/snooze", AgentOutcome::kSnoozed, "Wants a run later"},
     {"/agent/runs/{id}/release", AgentOutcome::kReleased, "Gives a run back unharmed"}}};

}  // namespace

void AddAgentRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context) {
    const auto handlers = std::make_shared<const AgentHandlers>(context->services);
    AddAsyncRoute(router,
                  {Method::kPost, "/agent/claim", Permission::kOperate,
                   "Fetches runs to work on, and waits for them"},
                  [handlers](const Request& request, Reply reply) {
                      handlers->Claim(request, std::move(reply));
                  });
    AddAsyncRoute(router,
                  {.method = Method::kPost,
                   .path = "/agent/exchange",
                   .permission = Permission::kOperate,
                   .description = "Reports on runs and fetches the next",
                   .body_limit = kMaxExchangeBody},
                  [handlers](const Request& request, Reply reply) {
                      handlers->Exchange(request, std::move(reply));
                  });
    AddRoute(router, context,
             {Method::kPost, "/agent/runs/{id}/heartbeat", Permission::kOperate,
              "Tells that an agent still works on a run"},
             [handlers](const Call& call) { return handlers->Heartbeat(call); });
    for (const EndRoute& end : kEnds) {
        AddRoute(router, context,
                 {.method = Method::kPost,
                  .path = end.path,
                  .permission = Permission::kOperate,
                  .description = end.description,
                  .body_limit = kMaxReportBody},
                 [handlers, outcome = end.outcome](const Call& call) {
                     return handlers->End(call, outcome);
                 });
    }
}

}  // namespace ksana::api
