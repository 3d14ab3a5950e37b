#include "ksana/api/v1/handlers.hpp"

#include <fmt/core.h>

#include "ksana/api/edge/guard.hpp"
#include "ksana/api/edge/list_answer.hpp"
#include "ksana/api/edge/object_text.hpp"
#include "ksana/api/edge/query_reader.hpp"
#include "ksana/codec/v1/callback_codec.hpp"
#include "ksana/codec/v1/job_view.hpp"
#include "ksana/engine/services/run_service.hpp"
#include "ksana/model/run/callback_order.hpp"

namespace ksana::api {
namespace {

using http_server::JsonResponse;
using http_server::Method;
using http_server::Permission;
using http_server::Request;
using http_server::Response;
using model::CallbackState;
using model::Run;

// state=failed&state=pending: one of these.
model::RunStates ReadCallbackStates(api::QueryReader& reader) {
    model::RunStates states = 0;
    for (const std::string_view name : reader.All("state")) {
        if (const auto state = model::FromName<CallbackState>(name)) {
            states = static_cast<model::RunStates>(states | model::StatesOf(*state));
        } else {
            reader.NotAllowed("state", name, model::EnumNames<CallbackState>::kNames);
        }
    }
    return states == 0 ? model::kAllStates : states;
}

Error NoCallback(const std::string& id) {
    return {Code::kNotFound, fmt::format("there is no callback \"{}\"", id)};
}

Result<Response> List(HandlerContext& context, const Call& call) {
    api::QueryReader reader(call.request);
    store::RunQuery query;
    query.filter.trigger = model::RunTrigger::kCallback;
    query.filter.states = ReadCallbackStates(reader);
    query.filter.parent = reader.Id("parent");
    query.filter.type = reader.Text("type");
    query.filter.tenant = reader.Text("tenant");
    PageWish wish = ReadPage(reader, true);
    KSANA_TRY_VOID(reader.Finish());
    KSANA_TRY_VOID(OpenCursor(call.request, context.cursors, wish));
    store::RunStore& runs = context.services.store.runs();
    const auto list_runs = [&](std::size_t limit, const std::string& cursor) {
        query.limit = limit;
        query.cursor = cursor;
        query.look = LooksAtOnce(wish);
        return runs.List(query);
    };
    KSANA_TRY(ListPage list, FillPage(wish, list_runs, codec::CallbackViewToJson));
    if (wish.total) {
        KSANA_TRY(list.total, runs.CountWithin(query.filter, kTotalBounds));
    }
    return ListAnswer(call.request, context.cursors, list);
}

// One that is held goes on as itself, so that its receiver knows it again.
Result<Response> Redeliver(HandlerContext& context, const Call& call) {
    KSANA_TRY_VOID(codec::CheckEmptyBody(call.request.body));
    const std::string& text = call.request.Parameter("id");
    const auto id = Uuid::Parse(text);
    if (!id) return NoCallback(text);
    const auto found = context.services.store.runs().Get(*id);
    const bool other = found && found->run.trigger != model::RunTrigger::kCallback;
    if (other || (!found && found.error().code == Code::kNotFound)) return NoCallback(text);
    if (!found) return found.error();
    KSANA_TRY(const Run run, context.services.runs.Retry(*id, call.id, api::ActorOf(call.request)));
    Response response = JsonResponse(202, codec::CallbackViewToJson(run));
    response.headers.emplace_back("Location", "/api/v1/runs/" + run.id.ToString());
    return response;
}

Result<Response> RedeliverMany(HandlerContext& context, const Call& call) {
    KSANA_TRY(codec::RedeliverRequest wish, codec::RedeliverRequestFromJson(call.request.body));
    KSANA_TRY(const auto redelivered,
              context.services.runs.Redeliver(
                  {.type = std::move(wish.type), .tenant = std::move(wish.tenant)},
                  api::ActorOf(call.request)));
    return JsonResponse(200, ObjectText()
                                 .Put("redelivered", redelivered.callbacks)
                                 .Put("more", redelivered.more)
                                 .Take());
}

}  // namespace

void AddCallbackRoutes(http_server::Router& router,
                       const std::shared_ptr<HandlerContext>& context) {
    AddRoute(router, context, {Method::kGet, "/callbacks", Permission::kRead, "Lists callbacks"},
             [context](const Call& call) { return List(*context, call); });
    AddRoute(router, context,
             {Method::kPost, "/callbacks/redeliver", Permission::kOperate,
              "Sends many callbacks again that did not get through"},
             [context](const Call& call) { return RedeliverMany(*context, call); });
    AddRoute(router, context,
             {Method::kPost, "/callbacks/{id}/redeliver", Permission::kOperate,
              "Sends a callback again that did not get through"},
             [context](const Call& call) { return Redeliver(*context, call); });
}

}  // namespace ksana::api
