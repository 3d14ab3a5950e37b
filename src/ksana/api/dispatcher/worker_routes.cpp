#include <fmt/core.h>

#include "ksana/api/dispatcher/dispatcher_routes.hpp"
#include "ksana/api/dispatcher/numbered_page.hpp"
#include "ksana/api/dispatcher/told_faults.hpp"
#include "ksana/api/edge/member_routes.hpp"
#include "ksana/codec/dispatcher/dispatcher_worker.hpp"
#include "ksana/engine/workers/worker_service.hpp"
#include "ksana/model/validate.hpp"

namespace ksana::api {
namespace {

using engine::WorkerService;
using http_server::JsonResponse;
using http_server::Permission;
using http_server::Request;
using http_server::Response;
using model::WorkerState;

constexpr std::size_t kWorkersAtOnce = 500;

Error NoWorker(const std::string& id) {
    return {Code::kNotFound, fmt::format("there is no worker \"{}\": register it", id)};
}

// Reads status=ALIVE and so on.
std::optional<WorkerState> ReadWorkerState(QueryReader& reader) {
    const std::string word = reader.Text("status");
    if (word.empty()) return std::nullopt;
    const auto state = codec::WorkerStateOf(word);
    if (!state) reader.NotAllowed("status", word, codec::WorkerWords());
    return state;
}

// Handlers of /api/workers. The routes share one object; pool threads call it concurrently.
class DispatcherWorkerHandlers {
  public:
    explicit DispatcherWorkerHandlers(const DispatcherServices& services)
        : workers_(services.workers), random_(services.random) {}

    // Without an incarnation, each registration is a start: what the worker had before is lost. The
    // incarnations that servers draw have no order, because the servers' clocks differ.
    Result<Response> Register(const Request& request) const {
        KSANA_TRY(codec::DispatcherWorker read, codec::DispatcherWorkerFromJson(request.body));
        if (read.worker.incarnation.IsNil()) read.worker.incarnation = RandomUuid(random_);
        auto problems = WithUntold(std::move(read.problems),
                                   codec::InWorkerWords(model::ValidateWorker(read.worker)));
        if (!problems.empty()) return Error(std::move(problems), read.untold);
        KSANA_TRY(const WorkerService::Shown shown, workers_.Register(std::move(read.worker)));
        Response response = JsonResponse(201, TextOf(shown));
        response.headers.emplace_back("Location", "/api/workers/" + shown.worker.id);
        return response;
    }

    // Workers that have left are listed only if the query asks for GONE, agents never: they have
    // not registered.
    Result<Response> List(const Request& request) const {
        QueryReader reader(request);
        const NumberedPage page = ReadNumberedPage(reader);
        const auto wanted = ReadWorkerState(reader);
        KSANA_TRY_VOID(reader.Finish());
        NumberedItems found;
        store::ListParams params{.prefix = {}, .limit = kWorkersAtOnce, .cursor = {}};
        std::size_t read = 0;
        do {
            KSANA_TRY(const store::Page<WorkerService::Shown> some, workers_.List(params));
            for (const WorkerService::Shown& shown : some.items) {
                const bool is = wanted ? shown.state == *wanted : shown.state != WorkerState::kGone;
                if (shown.worker.agent || !is) continue;
                const bool on_page = found.total >= page.begin() && found.total < page.end();
                if (on_page) found.items.push_back(TextOf(shown));
                ++found.total;
            }
            read += kWorkersAtOnce;
            params.cursor = some.next;
            found.exact = some.next.empty();
        } while (!found.exact && read < kDispatcherDepth);
        return NumberedAnswer(page, found);
    }

    Result<Response> Get(const Request& request) const {
        const std::string& id = request.Parameter("id");
        const auto shown = workers_.Get(id);
        if (!shown) return shown.error().code == Code::kNotFound ? NoWorker(id) : shown.error();
        if (shown->worker.agent) return NoWorker(id);
        KSANA_TRY(const auto runs, workers_.RunsOf(shown->worker));
        return JsonResponse(200, codec::DispatcherWorkerToJson(ViewOf(*shown), runs));
    }

    Result<Response> Beat(const Request& request) const {
        KSANA_TRY(const codec::DispatcherHeartbeat beat,
                  codec::DispatcherHeartbeatFromJson(request.body));
        KSANA_TRY(const model::Worker worker, Registered(request.Parameter("id")));
        KSANA_TRY(const WorkerService::Shown shown,
                  workers_.Beat({.worker_id = worker.id,
                                 .incarnation = beat.incarnation.value_or(worker.incarnation),
                                 .busy = beat.BusyOf(worker),
                                 .draining = worker.draining,
                                 .now = {}}));
        return JsonResponse(200, TextOf(shown));
    }

    // Document D, 2.5: the worker says that it leaves, finishes what it has, and leaves. It gets no
    // more work from the first call on; the call that finds it without work takes it off.
    Result<Response> Deregister(const Request& request) const {
        QueryReader reader(request);
        const auto incarnation = reader.Id("incarnation");
        KSANA_TRY_VOID(reader.Finish());
        KSANA_TRY(const model::Worker worker, Registered(request.Parameter("id")));
        const Uuid own = incarnation.value_or(worker.incarnation);
        KSANA_TRY(const WorkerService::Shown draining, workers_.Beat({.worker_id = worker.id,
                                                                      .incarnation = own,
                                                                      .busy = worker.busy,
                                                                      .draining = true,
                                                                      .now = {}}));
        KSANA_TRY(const auto runs, workers_.RunsOf(draining.worker));
        if (!runs.empty()) {
            return JsonResponse(202, codec::DispatcherWorkerToJson(ViewOf(draining), runs));
        }
        KSANA_TRY_VOID(workers_.Deregister(worker.id, own));
        return http_server::NoContent();
    }

  private:
    codec::ShownWorker ViewOf(const WorkerService::Shown& shown) const {
        return {.worker = shown.worker, .state = shown.state, .heartbeat = workers_.heartbeat()};
    }
    std::string TextOf(const WorkerService::Shown& shown) const {
        return codec::DispatcherWorkerToJson(ViewOf(shown));
    }

    Result<model::Worker> Registered(const std::string& id) const {
        auto shown = workers_.Get(id);
        if (!shown && shown.error().code != Code::kNotFound) return shown.error();
        if (!shown || shown->worker.agent || shown->worker.deregistered) return NoWorker(id);
        return std::move(shown->worker);
    }

    WorkerService& workers_;
    Random& random_;
};

}  // namespace

void AddDispatcherWorkerRoutes(http_server::Router& router, const DispatcherServices& services) {
    using Handlers = DispatcherWorkerHandlers;
    const MemberRoutes add(router, std::make_shared<const Handlers>(services));
    add(HttpMethod::kPost, "/api/workers", Permission::kOperate, "Registers a worker",
        &Handlers::Register);
    add(HttpMethod::kGet, "/api/workers", Permission::kRead, "Lists workers", &Handlers::List);
    add(HttpMethod::kGet, "/api/workers/{id}", Permission::kRead,
        "Shows a worker and what it works on", &Handlers::Get);
    add(HttpMethod::kPost, "/api/workers/{id}/heartbeat", Permission::kOperate,
        "Takes a sign of life of a worker", &Handlers::Beat);
    add(HttpMethod::kDelete, "/api/workers/{id}", Permission::kOperate,
        "Lets a worker finish its work and leave", &Handlers::Deregister);
}

}  // namespace ksana::api
