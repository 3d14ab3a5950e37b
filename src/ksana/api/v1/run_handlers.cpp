#include "ksana/api/v1/handlers.hpp"

#include <fmt/core.h>

#include "ksana/api/edge/entity_tag.hpp"
#include "ksana/api/edge/guard.hpp"
#include "ksana/api/edge/list_answer.hpp"
#include "ksana/api/edge/object_text.hpp"
#include "ksana/api/edge/query_reader.hpp"
#include "ksana/codec/v1/job_view.hpp"
#include "ksana/codec/v1/run_view.hpp"
#include "ksana/engine/services/run_service.hpp"

namespace ksana::api {
namespace {

using http_server::JsonResponse;
using http_server::Method;
using http_server::Permission;
using http_server::Request;
using http_server::Response;
using model::Run;
using model::RunState;

// state=failed&state=timed_out: one of these.
model::RunStates ReadRunStates(api::QueryReader& reader) {
    model::RunStates states = 0;
    for (const std::string_view name : reader.All("state")) {
        if (const auto state = model::FromName<RunState>(name)) {
            states = static_cast<model::RunStates>(states | model::SetOf(*state));
        } else {
            reader.NotAllowed("state", name, model::EnumNames<RunState>::kNames);
        }
    }
    return states == 0 ? model::kAllStates : states;
}

store::RunFilter ReadRunFilter(api::QueryReader& reader) {
    store::RunFilter filter;
    filter.states = ReadRunStates(reader);
    filter.tenant = reader.Text("tenant");
    filter.type = reader.Text("type");
    filter.category = reader.Text("category");
    filter.creator = reader.Text("creator");
    filter.owner = reader.Text("owner");
    filter.kind = reader.Name<model::ActionKind>("kind");
    filter.trigger = reader.Name<model::RunTrigger>("trigger");
    filter.parent = reader.Id("parent");
    filter.finished_from = reader.Time("finished_from");
    filter.finished_until = reader.Time("finished_until");
    filter.text = reader.Text("q");
    return filter;
}

class RunHandlers {
  public:
    explicit RunHandlers(std::shared_ptr<HandlerContext> context)
        : desk_(std::move(context)), store_(desk_->services.store), runs_(desk_->services.runs) {}

    Result<Response> List(const Call& call) const { return ListOf(call.request, std::nullopt); }

    Result<Response> ListOfJob(const Call& call) const {
        const std::string& id = call.request.Parameter("id");
        KSANA_TRY([[maybe_unused]] const model::Job job, store_.jobs().Get(id));
        return ListOf(call.request, id);
    }

    Result<Response> Get(const Call& call) const {
        api::QueryReader reader(call.request);
        KSANA_TRY_VOID(reader.Finish());
        KSANA_TRY(const Uuid id, RunIdOf(call.request));
        KSANA_TRY(const store::RunHistory history, store_.runs().Get(id));
        Response response =
            JsonResponse(200, codec::RunHistoryToJson(history.run, history.attempts));
        std::string tag = BodyTag(response.body);
        return WithTag(call.request, std::move(response), std::move(tag));
    }

    // 202: its owner has been asked to stop it.
    Result<Response> Cancel(const Call& call) const {
        KSANA_TRY_VOID(codec::CheckEmptyBody(call.request.body));
        KSANA_TRY(const Uuid id, RunIdOf(call.request));
        KSANA_TRY(const Run run, runs_.Cancel(id, api::ActorOf(call.request)));
        return JsonResponse(model::IsFinal(run.status.state) ? 200 : 202,
                            codec::RunViewToJson(run));
    }

    Result<Response> Retry(const Call& call) const {
        KSANA_TRY_VOID(codec::CheckEmptyBody(call.request.body));
        KSANA_TRY(const Uuid id, RunIdOf(call.request));
        KSANA_TRY(const Run run, runs_.Retry(id, call.id, api::ActorOf(call.request)));
        Response response = JsonResponse(202, codec::RunViewToJson(run));
        response.headers.emplace_back("Location", "/api/v1/runs/" + run.id.ToString());
        return response;
    }

    Result<Response> Resolve(const Call& call) const {
        return ByHand(call, &engine::RunService::Resolve);
    }
    Result<Response> SendBack(const Call& call) const {
        return ByHand(call, &engine::RunService::SendBack);
    }
    Result<Response> Hold(const Call& call) const {
        return ByHand(call, &engine::RunService::Hold);
    }

    Result<Response> Delete(const Call& call) const {
        KSANA_TRY(const Uuid id, RunIdOf(call.request));
        KSANA_TRY_VOID(runs_.Delete(id, api::ActorOf(call.request)));
        return http_server::NoContent();
    }

    Result<Response> Purge(const Call& call) const {
        KSANA_TRY(const codec::PurgeRequest wish, codec::PurgeRequestFromJson(call.request.body));
        KSANA_TRY(const auto purged, runs_.Purge({.finished_before = wish.finished_before,
                                                  .states = wish.states,
                                                  .dry_run = wish.dry_run},
                                                 api::ActorOf(call.request)));
        return JsonResponse(200, ObjectText()
                                     .Put("runs", purged.runs)
                                     .Put("more", purged.more)
                                     .Put("dry_run", wish.dry_run)
                                     .Take());
    }

  private:
    using Act = Result<Run> (engine::RunService::*)(const Uuid&, const std::string&,
                                                    const engine::Actor&);

    Result<Response> ByHand(const Call& call, Act act) const {
        KSANA_TRY(const codec::RemarkRequest wish, codec::RemarkRequestFromJson(call.request.body));
        KSANA_TRY(const Uuid id, RunIdOf(call.request));
        KSANA_TRY(const Run run, (runs_.*act)(id, wish.remark, api::ActorOf(call.request)));
        return JsonResponse(200, codec::RunViewToJson(run));
    }

    Result<Response> ListOf(const Request& request, std::optional<std::string> job_id) const {
        api::QueryReader reader(request);
        store::RunQuery query;
        query.filter = ReadRunFilter(reader);
        query.filter.job_id = job_id ? *std::move(job_id) : reader.Text("job");
        ReadSort(reader, query.sort, query.descending);
        PageWish wish = ReadPage(reader, true);
        KSANA_TRY_VOID(reader.Finish());
        KSANA_TRY_VOID(OpenCursor(request, desk_->cursors, wish));
        const auto list_runs = [&](std::size_t limit, const std::string& cursor) {
            query.limit = limit;
            query.cursor = cursor;
            query.look = LooksAtOnce(wish);
            return store_.runs().List(query);
        };
        KSANA_TRY(ListPage list, FillPage(wish, list_runs, codec::RunViewToJson));
        if (wish.total) {
            KSANA_TRY(list.total, store_.runs().CountWithin(query.filter, kTotalBounds));
        }
        return ListAnswer(request, desk_->cursors, list);
    }

    std::shared_ptr<HandlerContext> desk_;
    store::Store& store_;
    engine::RunService& runs_;
};

}  // namespace

Result<Uuid> RunIdOf(const http_server::Request& request) {
    const std::string& text = request.Parameter("id");
    const auto id = Uuid::Parse(text);
    if (id) return *id;
    return Error(Code::kNotFound, fmt::format("there is no run \"{}\"", text));
}

void AddRunRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context) {
    const auto handlers = std::make_shared<const RunHandlers>(context);
    const auto add = [&](const RouteInfo& info, auto handler) {
        AddRoute(router, context, info,
                 [handlers, handler](const Call& call) { return ((*handlers).*handler)(call); });
    };
    add({Method::kGet, "/runs", Permission::kRead, "Lists runs"}, &RunHandlers::List);
    add({Method::kGet, "/jobs/{id}/runs", Permission::kRead, "Lists the runs of a job"},
        &RunHandlers::ListOfJob);
    add({Method::kGet, "/runs/{id}", Permission::kRead, "Shows a run with its attempts"},
        &RunHandlers::Get);
    add({Method::kDelete, "/runs/{id}", Permission::kWrite, "Deletes a run that is over"},
        &RunHandlers::Delete);
    add({Method::kPost, "/runs/purge", Permission::kWrite, "Deletes runs that ended long ago"},
        &RunHandlers::Purge);
    add({Method::kPost, "/runs/{id}/cancel", Permission::kOperate, "Stops a run"},
        &RunHandlers::Cancel);
    add({Method::kPost, "/runs/{id}/retry", Permission::kOperate,
         "Runs again what did not succeed"},
        &RunHandlers::Retry);
    add({Method::kPost, "/runs/{id}/resolve", Permission::kOperate, "Closes a run that is held"},
        &RunHandlers::Resolve);
    add({Method::kPost, "/runs/{id}/send-back", Permission::kOperate,
         "Lets a run that is held go on"},
        &RunHandlers::SendBack);
    add({Method::kPost, "/runs/{id}/hold", Permission::kOperate,
         "Keeps a run that waits for a person"},
        &RunHandlers::Hold);
}

}  // namespace ksana::api
