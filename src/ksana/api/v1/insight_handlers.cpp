#include "ksana/api/v1/handlers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>

#include "ksana/api/edge/query_reader.hpp"
#include "ksana/engine/plan/schedule_cache.hpp"
#include "ksana/insight/explain/explain.hpp"
#include "ksana/insight/graph/job_graph.hpp"
#include "ksana/insight/preview/preview.hpp"
#include "ksana/insight/simulate/simulate.hpp"
#include "ksana/insight/sources.hpp"

namespace ksana::api {
namespace {

using codec::Schema;
using http_server::JsonResponse;
using http_server::Permission;
using http_server::Response;

constexpr Duration kTick{1};
constexpr Duration kMaxTolerance = std::chrono::hours(24);
// Takes a second or two of one core; several times that with slots.
constexpr std::int64_t kMaxSimulatedFires = 50'000'000;
// Previews compare up to 10,000 jobs; simulations take a core for seconds and much memory.
constexpr int kMostPreviews = 4;
constexpr int kMostSimulations = 1;

// Makes faults of a part of the body faults of the body.
Error Under(std::string_view path, Error error) {
    for (Problem& problem : error.problems) problem.path = std::string(path) + problem.path;
    return error;
}

// Counts itself during its lifetime; mine() tells whether there are no more than `most`.
// Thread-safe through the count.
class Turn {
  public:
    Turn(std::atomic<int>& taken, int most) : taken_(taken), mine_(taken.fetch_add(1) < most) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { --taken_; }
    bool mine() const { return mine_; }

  private:
    std::atomic<int>& taken_;
    const bool mine_;
};

// Handlers of explanations, previews and simulations. The routes share one object; pool threads
// call it concurrently.
class InsightHandlers {
  public:
    explicit InsightHandlers(const Services& services) : services_(services) {}

    Result<Response> Explain(const Call& call) {
        api::QueryReader reader(call.request);
        insight::ExplainParams params;
        params.job_id = call.request.Parameter("id");
        const auto at = reader.Time("at");
        params.tolerance = reader.Length("tolerance", kMaxTolerance, params.tolerance);
        KSANA_TRY_VOID(reader.Finish());
        const insight::Sources sources = InsightSources(services_);
        KSANA_TRY(params.now, services_.store.Now());
        if (at) {
            params.at = *at;
        } else {
            KSANA_TRY(params.at, LastFire(params.job_id, *params.now));
        }
        if (services_.node_view) params.node = services_.node_view();
        auto explained = insight::Explain(sources, params);
        if (!explained) {
            if (explained.error().code != Code::kInvalidArgument) return explained.error();
            return Error(std::vector<Problem>{{"/query/at", explained.error().message}});
        }
        if (explained->verdict == insight::Verdict::kUnknownJob) {
            return Error(Code::kNotFound, explained->text);
        }
        return JsonResponse(200, insight::ExplanationToJson(*explained));
    }

    // `sources` stops when the client goes.
    Result<Response> Preview(const http_server::Request& request, const insight::Sources& sources) {
        KSANA_TRY(const insight::PreviewParams params,
                  insight::PreviewParamsFromJson(request.body));
        const Turn turn(previewing_, kMostPreviews);
        if (!turn.mine()) return Error(Code::kExhausted, "other previews are under way");
        const auto preview = insight::PreviewSchedule(sources, params);
        if (!preview) return Under("/schedule", preview.error());
        return JsonResponse(200, insight::PreviewToJson(*preview));
    }

    Result<Response> Graph(const Call& call) { return GraphOf(call, ""); }
    Result<Response> GraphOfJob(const Call& call) {
        return GraphOf(call, call.request.Parameter("id"));
    }

    // The whole graph, or the part of it that has to do with one job.
    Result<Response> GraphOf(const Call& call, const std::string& job_id) {
        api::QueryReader reader(call.request);
        const std::size_t limit =
            reader.Number("limit", 1, insight::kMaxGraphNodes, insight::kMaxGraphNodes);
        KSANA_TRY_VOID(reader.Finish());
        KSANA_TRY(const insight::JobGraph graph, insight::GraphOf(services_.store, job_id, limit));
        return JsonResponse(200, insight::JobGraphToJson(graph));
    }

    // One at a time, others get kExhausted. `sources` stops when the client goes.
    Result<Response> Simulate(const http_server::Request& request,
                              const insight::Sources& sources) {
        KSANA_TRY(insight::SimulateParams params, insight::SimulateParamsFromJson(request.body));
        KSANA_TRY_VOID(insight::CheckChanges(sources, params));
        const Turn turn(simulating_, kMostSimulations);
        if (!turn.mine()) return Error(Code::kExhausted, "another simulation is under way");
        params.max_fires = kMaxSimulatedFires;
        KSANA_TRY(const insight::Simulation simulation, insight::Simulate(sources, params));
        return JsonResponse(200, insight::SimulationToJson(simulation));
    }

    const Services& services() const { return services_; }

  private:
    // Returns the last nominal fire, even if the calendar blocks it; without one, `now`.
    Result<TimePoint> LastFire(const std::string& id, TimePoint now) {
        KSANA_TRY(const model::Job job, services_.store.jobs().Get(id));
        const auto schedule = services_.schedules.Of(job);
        if (!schedule) return now;
        const TimePoint before = job.state.created_at;  // the first fire is later
        if (!schedule->HasTimes()) return std::max(job.state.planned_until.value_or(now), before);
        const TimePoint last = std::max(schedule->Previous(now + kTick).value_or(before), before);
        const schedule::FireRange blocked = schedule->Blocked(last, now);
        if (blocked.count > 0) return blocked.last;
        return last == before ? now : last;
    }

    const Services services_;
    std::atomic<int> previewing_ = 0;
    std::atomic<int> simulating_ = 0;
};

Schema MakeTolerance() { return Schema::Length().Default("1m"); }

constexpr Parameter kExplainFireParameters[] = {
    {"at", "About which time; absent: the last fire before now.", &Schema::Time},
    {"tolerance", "The nearest fire within this is meant, up to 24h.", &MakeTolerance},
};

constexpr RouteInfo kExplainFire{
    .method = HttpMethod::kGet,
    .path = "/jobs/{id}/explain",
    .permission = Permission::kRead,
    .id = "explainFire",
    .tag = Tag::kInsight,
    .summary = "What happened to a fire of a job, and why",
    .subject = &kJobId,
    .parameters = kExplainFireParameters,
    .answers = {{{200, "What became of the fire.", &insight::kExplanationSchema}}}};

Schema MakeGraphLimit() {
    return Schema::Int()
        .Between(1, static_cast<std::int64_t>(insight::kMaxGraphNodes))
        .Default(std::to_string(insight::kMaxGraphNodes));
}

constexpr Parameter kGraphParameters[] = {{"limit", "The most jobs.", &MakeGraphLimit}};

constexpr RouteInfo kGetGraph{.method = HttpMethod::kGet,
                              .path = "/graph",
                              .permission = Permission::kRead,
                              .id = "getGraph",
                              .tag = Tag::kInsight,
                              .summary = "The jobs that depend on each other or follow each other",
                              .parameters = kGraphParameters,
                              .answers = {{{200, "Jobs and edges.", &insight::kJobGraphSchema}}}};

constexpr RouteInfo kGetJobGraph{
    .method = HttpMethod::kGet,
    .path = "/jobs/{id}/graph",
    .permission = Permission::kRead,
    .id = "getJobGraph",
    .tag = Tag::kInsight,
    .summary = "What a job needs and what needs it, over all steps",
    .subject = &kJobId,
    .parameters = kGraphParameters,
    .answers = {{{200, "Jobs and edges.", &insight::kJobGraphSchema}}}};

constexpr RouteInfo kPreviewSchedule{
    .method = HttpMethod::kPost,
    .path = "/preview",
    .permission = Permission::kRead,
    .id = "previewSchedule",
    .tag = Tag::kInsight,
    .summary = "The fires of a schedule not yet saved",
    .more = "Changes nothing. Four at a time on each server: 429 with Retry-After beyond that.",
    .body = &insight::kPreviewRequestSchema,
    .answers = {{{200, "The coming fires.", &insight::kPreviewSchema}}},
    .keyless = true};

constexpr RouteInfo kSimulate{
    .method = HttpMethod::kPost,
    .path = "/simulate",
    .permission = Permission::kRead,
    .id = "simulate",
    .tag = Tag::kInsight,
    .summary = "The jobs on a virtual clock",
    .more =
        "Changes nothing. One at a time on each server: 429 with Retry-After while there is "
        "another. Stops when the client closes its connection.",
    .body = &insight::kSimulateRequestSchema,
    .answers = {{{200, "What it would be like.", &insight::kSimulationSchema}}},
    .keyless = true};

}  // namespace

void AddInsightRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context) {
    const auto handlers = std::make_shared<InsightHandlers>(context->services);
    const auto add = [&](const RouteInfo& info, auto handler) {
        AddRoute(router, context, info,
                 [handlers, handler](const Call& call) { return ((*handlers).*handler)(call); });
    };
    add(kExplainFire, &InsightHandlers::Explain);
    add(kGetGraph, &InsightHandlers::Graph);
    add(kGetJobGraph, &InsightHandlers::GraphOfJob);
    // Asynchronous, as only a Reply knows whether the client is still there.
    const auto add_long = [&](const RouteInfo& info, auto handler) {
        AddAsyncRoute(
            router, context, info,
            [handlers, handler](const http_server::Request& request, http_server::Reply reply) {
                insight::Sources sources = InsightSources(handlers->services());
                sources.stopped = [&reply] { return reply.client_gone(); };
                auto answer = ((*handlers).*handler)(request, sources);
                answer ? reply.Send(*std::move(answer)) : reply.Fail(answer.error());
            });
    };
    add_long(kPreviewSchedule, &InsightHandlers::Preview);
    add_long(kSimulate, &InsightHandlers::Simulate);
}

}  // namespace ksana::api
