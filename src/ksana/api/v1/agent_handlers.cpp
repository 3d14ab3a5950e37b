#include "ksana/api/v1/handlers.hpp"

#include <fmt/core.h>

#include <array>

#include "ksana/api/edge/client_shares.hpp"
#include "ksana/codec/v1/agent_codec.hpp"
#include "ksana/engine/agents/agent_polls.hpp"
#include "ksana/engine/agents/agent_service.hpp"
#include "ksana/engine/workers/worker_service.hpp"

namespace ksana::api {
namespace {

using http_server::JsonResponse;
using http_server::Permission;
using http_server::Reply;
using http_server::Request;
using http_server::Response;
using model::AgentOutcome;
using model::EventVerdict;
using store::Applied;

// Polls of one client that wait; of all together: AgentPolls::Options::max_polls.
constexpr std::size_t kMaxPolls = 1'000;
// A result of a megabyte, its escapes, and the other members of a report.
constexpr std::size_t kMaxReportBody = std::size_t{8} << 20;
constexpr std::size_t kMaxExchangeBody = std::size_t{64} << 20;

std::string_view VerdictName(EventVerdict verdict) {
    switch (verdict) {
        case EventVerdict::kApplied:
        case EventVerdict::kDuplicate:
            return "ok";
        case EventVerdict::kStale:
            return "stale";
        case EventVerdict::kRefused:
            return "refused";
        case EventVerdict::kNotFound:
            return "not_found";
    }
    return "refused";
}

// Answers a claim, or the claim of an exchange, over HTTP.
class HttpPollClient final : public engine::PollClient {
  public:
    // `reports`: of an exchange, the outcomes of its reports as JSON. The reports are stored, so an
    // exchange is always answered with 200.
    // `share` is held until the answer.
    HttpPollClient(Reply reply, const model::TraceSampler& sampler,
                   std::unique_ptr<ClientShares::Share> share,
                   std::optional<std::string> reports = {})
        : reply_(std::move(reply)),
          sampler_(sampler),
          share_(std::move(share)),
          reports_(std::move(reports)) {}

    void Send(std::vector<model::Run> runs) override { Answer(runs, {}, false); }
    void SendWith(std::vector<model::Run> runs, std::vector<model::Job> jobs) override {
        Answer(runs, jobs, false);
    }
    void SendDrain() override { Answer({}, {}, true); }
    void Fail(const Error& error) override {
        if (reports_ && error.code != Code::kLeaseLost && error.code != Code::kNotFound) {
            return Send({});
        }
        reply_.Fail(error);
    }
    bool gone() const override { return reply_.client_gone(); }
    void OnGone(std::function<void()> callback) override {
        reply_.OnClientGone(std::move(callback));
    }

  private:
    void Answer(const std::vector<model::Run>& runs, const std::vector<model::Job>& jobs,
                bool drain) {
        if (reports_) {
            reply_.Send(JsonResponse(
                200, codec::ExchangeToJson(*std::move(reports_), runs, jobs, drain, sampler_)));
        } else if (runs.empty() && !drain) {
            reply_.Send(http_server::NoContent());
        } else {
            reply_.Send(JsonResponse(200, codec::ClaimedRunsToJson(runs, jobs, drain, sampler_)));
        }
    }

    Reply reply_;
    const model::TraceSampler sampler_;
    const std::unique_ptr<ClientShares::Share> share_;
    std::optional<std::string> reports_;
};

// Handlers of the agent protocol. The routes share one object; pool threads call it concurrently.
class AgentHandlers {
  public:
    explicit AgentHandlers(const Services& services)
        : agents_(services.agents),
          polls_(services.agent_polls),
          workers_(services.workers),
          sampler_(services.sampler) {}

    void Claim(const Request& request, Reply reply) const {
        auto claim = codec::AgentClaimFromJson(request.body);
        if (!claim) {
            reply.Fail(claim.error());
            return;
        }
        const auto admitted = workers_.Admit(*claim);
        if (!admitted) {
            reply.Fail(admitted.error());
            return;
        }
        auto share = shares_->Enter(ClientOf(request));
        if (!share) {
            reply.Fail(TooManyPolls());
            return;
        }
        auto client =
            std::make_unique<HttpPollClient>(std::move(reply), sampler_, std::move(share));
        if (!*admitted) return client->SendDrain();
        polls_.Claim({.claim = *std::move(claim), .client = std::move(client)});
    }

    void Exchange(const Request& request, Reply reply) const {
        auto wish = codec::AgentExchangeFromJson(request.body, kMaxExchangeBody);
        if (!wish) {
            reply.Fail(wish.error());
            return;
        }
        // Reports are taken all the same: each is fenced by its own exec_id.
        std::optional<Error> refused;
        bool drains = false;
        if (wish->claim) {
            const auto admitted = workers_.Admit(*wish->claim);
            if (!admitted) refused = admitted.error();
            drains = admitted && !*admitted;
            const bool wrong = refused && refused->code == Code::kInvalidArgument;
            if (wrong || (refused && wish->reports.empty())) {
                reply.Fail(*refused);
                return;
            }
            if (refused || drains) wish->claim.reset();
        }
        auto share = wish->claim ? shares_->Enter(ClientOf(request)) : nullptr;
        if (wish->claim && !share) {
            if (wish->reports.empty()) {
                reply.Fail(TooManyPolls());
                return;
            }
            wish->claim.reset();
        }
        std::vector<Uuid> ids;
        ids.reserve(wish->reports.size());
        for (const model::RunEvent& report : wish->reports) ids.push_back(report.run_id);
        std::optional<std::uint64_t> seen;
        if (wish->claim && !polls_.OthersWait(*wish->claim)) seen = polls_.commits();
        auto exchanged = agents_.Exchange(std::move(wish->reports),
                                          seen ? wish->claim : std::optional<model::AgentClaim>());
        if (!exchanged) {
            reply.Fail(exchanged.error());
            return;
        }
        std::string reports = AnswersOf(ids, exchanged->applied);
        if (!wish->claim) {
            if (refused) {
                reply.Fail(*refused);
                return;
            }
            reply.Send(
                JsonResponse(200, codec::ExchangeToJson(std::move(reports), {}, {}, drains)));
            return;
        }
        polls_.Settle({.claim = *std::move(wish->claim),
                       .client = std::make_unique<HttpPollClient>(
                           std::move(reply), sampler_, std::move(share), std::move(reports))},
                      std::move(exchanged->claimed.runs), seen);
    }

    Result<Response> Heartbeat(const Call& call) const {
        KSANA_TRY(model::RunEvent report, ReportOf(call, AgentOutcome::kHeartbeat));
        const Duration lease = report.event.lease;
        KSANA_TRY(const Applied applied, agents_.Report(std::move(report)));
        return JsonResponse(200, codec::HeartbeatToJson(lease, DirectivesOf(applied)));
    }

    Result<Response> End(const Call& call, AgentOutcome outcome) const {
        KSANA_TRY(model::RunEvent report, ReportOf(call, outcome));
        KSANA_TRY_VOID(agents_.Report(std::move(report)));
        return http_server::NoContent();
    }

  private:
    Error TooManyPolls() const {
        return {Code::kExhausted,
                fmt::format("{} polls of this client wait already", shares_->most())};
    }

    static Result<model::RunEvent> ReportOf(const Call& call, AgentOutcome outcome) {
        KSANA_TRY(const Uuid id, RunIdOf(call.request));
        KSANA_TRY(model::Event event, codec::AgentReportFromJson(call.request.body, outcome));
        return model::RunEvent{.run_id = id, .event = std::move(event)};
    }

    std::vector<std::string_view> DirectivesOf(const Applied& applied) const {
        std::vector<std::string_view> directives;
        const bool runs = applied.state == model::RunState::kRunning;
        if (runs && applied.cancel_requested) directives.emplace_back("cancel");
        if (polls_.draining()) directives.emplace_back("drain");
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
    engine::AgentPolls& polls_;
    engine::WorkerService& workers_;
    const model::TraceSampler sampler_;
    // A thousand workers behind one address, each with a waiting poll, have room.
    const std::unique_ptr<ClientShares> shares_ = std::make_unique<ClientShares>(kMaxPolls);
};

constexpr RouteInfo kClaimRuns{
    .method = HttpMethod::kPost,
    .path = "/agent/claim",
    .permission = Permission::kOperate,
    .id = "claimRuns",
    .tag = Tag::kAgents,
    .summary = "Fetches runs to work on, and waits for them",
    .more = "Answered by the commit that makes a run ready. A client waits for longer than `wait`.",
    .body = &codec::kAgentClaimSchema,
    .answers = {{{200, "Runs that are the worker's until their lease or deadline ends.",
                  &codec::kClaimedRunsSchema},
                 {204, "There is none, and the time to wait is over."}}},
    .keyless = true};

constexpr RouteInfo kExchangeRuns{
    .method = HttpMethod::kPost,
    .path = "/agent/exchange",
    .permission = Permission::kOperate,
    .id = "exchangeRuns",
    .tag = Tag::kAgents,
    .summary = "Reports on runs and fetches the next",
    .more =
        "All of it in one transaction: reports first, then the claim. The fast way for an agent "
        "that works on many runs.",
    .body = &codec::kAgentExchangeSchema,
    .answers = {{{200, "What became of each report, in order, and what was claimed.",
                  &codec::kAgentExchangedSchema}}},
    .keyless = true,
    .body_limit = kMaxExchangeBody};

constexpr RouteInfo kHeartbeatRun{
    .method = HttpMethod::kPost,
    .path = "/agent/runs/{id}/heartbeat",
    .permission = Permission::kOperate,
    .id = "heartbeatRun",
    .tag = Tag::kAgents,
    .summary = "Tells that an agent still works on a run",
    .more = "At a third of the lease. 409 lease_lost: stop, another agent has the run.",
    .subject = &kRunId,
    .body = &codec::kAgentHeartbeatSchema,
    .answers = {{{200, "Still the worker's.", &codec::kAgentDirectivesSchema}}}};

constexpr RouteInfo kSucceedRun{.method = HttpMethod::kPost,
                                .path = "/agent/runs/{id}/succeed",
                                .permission = Permission::kOperate,
                                .id = "succeedRun",
                                .tag = Tag::kAgents,
                                .summary = "Reports that a run is done",
                                .subject = &kRunId,
                                .body = &codec::kAgentSuccessSchema,
                                .answers = {{{204, "Taken; so is the same report sent again."}}},
                                .body_limit = kMaxReportBody};

constexpr RouteInfo kFailRun{.method = HttpMethod::kPost,
                             .path = "/agent/runs/{id}/fail",
                             .permission = Permission::kOperate,
                             .id = "failRun",
                             .tag = Tag::kAgents,
                             .summary = "Reports that an attempt failed",
                             .more =
                                 "With a retry left it runs again later; else it is over, or waits "
                                 "for a person where its type says so.",
                             .subject = &kRunId,
                             .body = &codec::kAgentFailureSchema,
                             .answers = {{{204, "Taken; so is the same report sent again."}}},
                             .body_limit = kMaxReportBody};

constexpr RouteInfo kSnoozeRun{.method = HttpMethod::kPost,
                               .path = "/agent/runs/{id}/snooze",
                               .permission = Permission::kOperate,
                               .id = "snoozeRun",
                               .tag = Tag::kAgents,
                               .summary = "Wants a run later",
                               .more = "No retry is used up.",
                               .subject = &kRunId,
                               .body = &codec::kAgentSnoozeSchema,
                               .answers = {{{204, "Taken; so is the same report sent again."}}},
                               .body_limit = kMaxReportBody};

constexpr RouteInfo kReleaseRun{
    .method = HttpMethod::kPost,
    .path = "/agent/runs/{id}/release",
    .permission = Permission::kOperate,
    .id = "releaseRun",
    .tag = Tag::kAgents,
    .summary = "Gives a run back unharmed",
    .more = "For an agent that ends: another one gets it at once, and no retry is used up.",
    .subject = &kRunId,
    .body = &codec::kAgentReleaseSchema,
    .answers = {{{204, "Taken; so is the same report sent again."}}},
    .body_limit = kMaxReportBody};

// Routes of reports that end an attempt.
struct EndRoute {
    const RouteInfo& info;
    AgentOutcome outcome;
};
constexpr std::array<EndRoute, 4> kEnds = {{{kSucceedRun, AgentOutcome::kSucceeded},
                                            {kFailRun, AgentOutcome::kFailed},
                                            {kSnoozeRun, AgentOutcome::kSnoozed},
                                            {kReleaseRun, AgentOutcome::kReleased}}};

}  // namespace

void AddAgentRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context) {
    const auto handlers = std::make_shared<const AgentHandlers>(context->services);
    AddAsyncRoute(router, context, kClaimRuns, [handlers](const Request& request, Reply reply) {
        handlers->Claim(request, std::move(reply));
    });
    AddAsyncRoute(router, context, kExchangeRuns, [handlers](const Request& request, Reply reply) {
        handlers->Exchange(request, std::move(reply));
    });
    AddRoute(router, context, kHeartbeatRun,
             [handlers](const Call& call) { return handlers->Heartbeat(call); });
    for (const EndRoute& end : kEnds) {
        AddRoute(router, context, end.info, [handlers, outcome = end.outcome](const Call& call) {
            return handlers->End(call, outcome);
        });
    }
}

}  // namespace ksana::api
