#include "ksana/api/v1/handlers.hpp"

#include "ksana/api/edge/guard.hpp"
#include "ksana/api/edge/list_answer.hpp"
#include "ksana/api/edge/query_reader.hpp"
#include "ksana/codec/v1/job_view.hpp"
#include "ksana/codec/workers/worker_codec.hpp"
#include "ksana/engine/workers/worker_service.hpp"

namespace ksana::api {
namespace {

using engine::WorkerService;
using http_server::JsonResponse;
using http_server::Permission;
using http_server::Response;

std::string View(const WorkerService::Shown& shown) {
    return codec::WorkerViewToJson(shown.worker, shown.state);
}

// Handlers of workers. The routes share one object; pool threads call it concurrently.
class WorkerHandlers {
  public:
    explicit WorkerHandlers(const std::shared_ptr<HandlerContext>& context)
        : context_(context), workers_(context->services.workers) {}

    Result<Response> Register(const Call& call) {
        KSANA_TRY(model::Worker worker, codec::WorkerFromView(call.request.body));
        KSANA_TRY(const WorkerService::Shown shown, workers_.Register(std::move(worker)));
        Response response = JsonResponse(201, View(shown));
        response.headers.emplace_back("Location", "/api/v1/workers/" + shown.worker.id);
        return response;
    }

    Result<Response> Beat(const Call& call) {
        KSANA_TRY(const codec::WorkerBeat beat, codec::WorkerBeatFromJson(call.request.body));
        KSANA_TRY(const WorkerService::Shown shown, workers_.Beat({.worker_id = NameOf(call),
                                                                   .incarnation = beat.incarnation,
                                                                   .busy = beat.busy,
                                                                   .draining = beat.draining,
                                                                   .now = {}}));
        return JsonResponse(200, codec::WorkerBeatToJson(shown.state, workers_.heartbeat(),
                                                         shown.worker.drain_requested));
    }

    Result<Response> Deregister(const Call& call) {
        api::QueryReader reader(call.request);
        const std::optional<Uuid> incarnation = reader.Id("incarnation");
        if (!incarnation) reader.Fault("incarnation", "is missing: the one that registered");
        KSANA_TRY_VOID(reader.Finish());
        KSANA_TRY_VOID(workers_.Deregister(NameOf(call), *incarnation));
        return http_server::NoContent();
    }

    Result<Response> Drain(const Call& call) {
        KSANA_TRY(const WorkerService::Shown shown,
                  workers_.Drain(NameOf(call), api::ActorOf(call.request)));
        return JsonResponse(200, View(shown));
    }

    Result<Response> Get(const Call& call) {
        KSANA_TRY_VOID(api::QueryReader(call.request).Finish());
        KSANA_TRY(const WorkerService::Shown shown, workers_.Get(NameOf(call)));
        KSANA_TRY(const std::vector<model::Run> runs, workers_.RunsOf(shown.worker));
        return JsonResponse(200, codec::WorkerViewToJson(shown.worker, shown.state, runs));
    }

    Result<Response> List(const Call& call) {
        api::QueryReader reader(call.request);
        const auto state = reader.Name<model::WorkerState>("state");
        PageParams wish = ReadPage(reader, false);
        KSANA_TRY_VOID(reader.Finish());
        KSANA_TRY_VOID(OpenCursor(call.request, context_->cursors, wish));
        const auto list = [&](std::size_t limit, const std::string& cursor) {
            return ListSome(state, limit, cursor);
        };
        KSANA_TRY(const ListPage page, FillPage(wish, list, View));
        return ListAnswer(call.request, context_->cursors, page);
    }

  private:
    static const std::string& NameOf(const Call& call) { return call.request.Parameter("name"); }

    // The state depends on the time, so the store cannot filter by it. A page may have fewer items
    // than asked for, and a cursor.
    Result<store::Page<WorkerService::Shown>> ListSome(std::optional<model::WorkerState> state,
                                                       std::size_t limit,
                                                       const std::string& cursor) {
        KSANA_TRY(auto page, workers_.List({.prefix = {}, .limit = limit, .cursor = cursor}));
        if (state) {
            std::erase_if(page.items, [&](const auto& shown) { return shown.state != *state; });
        }
        return page;
    }

    const std::shared_ptr<HandlerContext> context_;
    WorkerService& workers_;
};

constexpr Parameter kWorkerName{
    .name = "name", .means = "Name of a worker.", .place = Place::kPath, .example = "etl-1"};
constexpr Parameter kListWorkersParameters[] = {
    {.name = "state", .means = "alive, draining, down or gone."}};
constexpr Parameter kDeregisterParameters[] = {
    {.name = "incarnation", .means = "The one that registered."}};
constexpr codec::NamedSchema kWorkerPage{"WorkerPage", &MakePage<codec::kWorkerSchema>};

constexpr RouteInfo kRegisterWorker{
    .method = HttpMethod::kPost,
    .path = "/workers",
    .permission = Permission::kOperate,
    .id = "registerWorker",
    .tag = Tag::kWorkers,
    .summary = "Registers a worker",
    .more =
        "Another incarnation under the same name is replaced: its attempts are lost at once and "
        "tried again. 409 lease_lost: a process that was started later on the same host has the "
        "name (told by incarnations of version 7).",
    .body = &codec::kWorkerRegistrationSchema,
    .answers = {{{201, "Registered.", &codec::kWorkerSchema, kLocation}}},
    .keyless = true};

constexpr RouteInfo kBeatWorker{
    .method = HttpMethod::kPost,
    .path = "/workers/{name}/heartbeat",
    .permission = Permission::kOperate,
    .id = "heartbeatWorker",
    .tag = Tag::kWorkers,
    .summary = "Tells that a worker is alive",
    .more =
        "409 lease_lost: another incarnation has the name; stop everything. 404: forgotten; "
        "register again.",
    .subject = &kWorkerName,
    .body = &codec::kWorkerBeatSchema,
    .answers = {{{200, "What the worker is to do.", &codec::kWorkerBeatAnswerSchema}}},
    .keyless = true};

constexpr RouteInfo kDeregisterWorker{
    .method = HttpMethod::kDelete,
    .path = "/workers/{name}",
    .permission = Permission::kOperate,
    .id = "deregisterWorker",
    .tag = Tag::kWorkers,
    .summary = "Tells that a worker has left",
    .more = "What it still held is tried again elsewhere. It stays in the list for a day.",
    .subject = &kWorkerName,
    .parameters = kDeregisterParameters,
    .answers = {{{204, "It is gone."}}}};

constexpr RouteInfo kDrainWorker{
    .method = HttpMethod::kPost,
    .path = "/workers/{name}/drain",
    .permission = Permission::kOperate,
    .id = "drainWorker",
    .tag = Tag::kWorkers,
    .summary = "Gives a worker no more runs",
    .more = "It learns of it at its next claim or heartbeat, finishes what it has, and leaves.",
    .subject = &kWorkerName,
    .body = &codec::kNothingSchema,
    .body_need = BodyNeed::kOptional,
    .answers = {{{200, "It drains.", &codec::kWorkerSchema}}}};

constexpr RouteInfo kGetWorker{.method = HttpMethod::kGet,
                               .path = "/workers/{name}",
                               .permission = Permission::kRead,
                               .id = "getWorker",
                               .tag = Tag::kWorkers,
                               .summary = "Shows a worker and what it works on",
                               .subject = &kWorkerName,
                               .answers = {{{200, "The worker.", &codec::kWorkerWithRunsSchema}}}};

constexpr RouteInfo kListWorkers{.method = HttpMethod::kGet,
                                 .path = "/workers",
                                 .permission = Permission::kRead,
                                 .id = "listWorkers",
                                 .tag = Tag::kWorkers,
                                 .summary = "Lists workers and agents",
                                 .more = "By name; those that left or died stay for a day.",
                                 .parameters = kListWorkersParameters,
                                 .paging = Paging::kPages,
                                 .answers = {{{200, "A page.", &kWorkerPage}}}};

}  // namespace

void AddWorkerRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context) {
    const auto handlers = std::make_shared<WorkerHandlers>(context);
    const auto add = [&](const RouteInfo& info, auto handler) {
        AddRoute(router, context, info,
                 [handlers, handler](const Call& call) { return ((*handlers).*handler)(call); });
    };
    add(kRegisterWorker, &WorkerHandlers::Register);
    add(kListWorkers, &WorkerHandlers::List);
    add(kGetWorker, &WorkerHandlers::Get);
    add(kDeregisterWorker, &WorkerHandlers::Deregister);
    add(kBeatWorker, &WorkerHandlers::Beat);
    add(kDrainWorker, &WorkerHandlers::Drain);
}

}  // namespace ksana::api
