#include "ksana/api_v1/callback_handlers.hpp"

#include <fmt/core.h>

#include "ksana/api/actor_of.hpp"
#include "ksana/api/query_reader.hpp"
#include "ksana/api_v1/list_answer.hpp"
#include "ksana/api_v1/object_text.hpp"
#include "ksana/codec/callback_codec.hpp"
#include "ksana/codec/job_view.hpp"
#include "ksana/model/callback_state.hpp"

namespace ksana::api_v1 {
namespace {

using http_server::JsonResponse;
using http_server::Method;
using http_server::Permission;
using http_server::Request;
using http_server::Response;
using model::CallbackState;
using model::Run;

// state=failed&state=pending: one of these.
model::RunStates ReadStates(api::QueryReader& reader) {
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

Result<Response> List(Desk& desk, const Call& call) {
    api::QueryReader reader(call.request);
    store::RunQuery query;
    query.filter.trigger = model::RunTrigger::kCallback;
    query.filter.states = ReadStates(reader);
    query.filter.parent = reader.Id("parent");
    query.filter.type = reader.Text("type");
    query.filter.tenant = reader.Text("tenant");
    PageWish wish = ReadPage(reader, true);
    KSANA_TRY_VOID(reader.Finish());
    KSANA_TRY_VOID(OpenCursor(call.request, desk.cursors, wish));
    store::RunStore& runs = desk.services.store.runs();
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
    return ListAnswer(call.request, desk.cursors, list);
}

// One that is held goes on as itself, so that its receiver knows it again.
Result<Response> Redeliver(Desk& desk, const Call& call) {
    KSANA_TRY_VOID(codec::CheckEmptyBody(call.request.body));
    const std::string& text = call.request.Parameter("id");
    const auto id = Uuid::Parse(text);
    if (!id) return NoCallback(text);
    const auto found = desk.services.store.runs().Get(*id);
    const bool other = found && found->run.trigger != model::RunTrigger::kCallback;
    if (other || (!found && found.error().code == Code::kNotFound)) return NoCallback(text);
    if (!found) return found.error();
    KSANA_TRY(const Run run, desk.services.runs.Retry(*id, call.id, api::ActorOf(call.request)));
    Response response = JsonResponse(202, codec::CallbackViewToJson(run));
    response.headers.emplace_back("Location", "/api/v1/runs/" + run.id.ToString());
    return response;
}

Result<Response> RedeliverMany(Desk& desk, const Call& call) {
    KSANA_TRY(codec::RedeliverRequest wish, codec::RedeliverRequestFromJson(call.request.body));
    KSANA_TRY(const auto redelivered,
              desk.services.runs.Redeliver(
                  {.type = std::move(wish.type), .tenant = std::move(wish.tenant)},
                  api::ActorOf(call.request)));
    return JsonResponse(200, ObjectText()
                                 .Put("redelivered", redelivered.callbacks)
                                 .Put("more", redelivered.more)
                                 .Take());
}

}  // namespace

void AddCallbackRoutes(http_server::Router& router, const std::shared_ptr<Desk>& desk) {
    AddRoute(router, desk, {Method::kGet, "/callbacks", Permission::kRead, "Lists callbacks"},
             [desk](const Call& call) { return List(*desk, call); });
    AddRoute(router, desk,
             {Method::kPost, "/callbacks/redeliver", Permission::kOperate,
              "Sends many callbacks again that did not get through"},
             [desk](const Call& call) { return RedeliverMany(*desk, call); });
    AddRoute(router, desk,
             {Method::kPost, "/callbacks/{id}/redeliver", Permission::kOperate,
              "Sends a callback again that did not get through"},
             [desk](const Call& call) { return Redeliver(*desk, call); });
}

}  // namespace ksana::api_v1
