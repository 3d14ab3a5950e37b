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

using codec::ObjectSchema;
using codec::Schema;
using http_server::JsonResponse;
using http_server::Permission;
using http_server::Request;
using http_server::Response;
using model::CallbackState;
using model::Run;

// Reads state=failed&state=pending as alternatives.
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
    PageParams wish = ReadPage(reader, true);
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

// A held callback keeps its id when it is sent again, so that its receiver recognizes it.
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

Schema MakeCallbackStates() { return Schema::ListOf(Schema::Name<model::CallbackState>()); }

constexpr Parameter kListCallbacksParameters[] = {
    {.name = "state",
     .means = "In this state; more than once: in any of them.",
     .schema = &MakeCallbackStates,
     .repeats = true},
    kParentFilter,
    kTypeFilter,
    kTenantFilter,
};

Schema MakeRedelivered() {
    return ObjectSchema("How many callbacks are sent again.")
        .Need("redelivered", Schema::Int().Between(0, 1100).Means("How many."))
        .Need("more", Schema::Flag().Means("There may be more: send it again."));
}

constexpr codec::NamedSchema kRedelivered{"Redelivered", &MakeRedelivered};
constexpr codec::NamedSchema kCallbackPage{"CallbackPage",
                                           &MakeCountedPage<codec::kCallbackSchema>};

constexpr RouteInfo kListCallbacks{.method = HttpMethod::kGet,
                                   .path = "/callbacks",
                                   .permission = Permission::kRead,
                                   .id = "listCallbacks",
                                   .tag = Tag::kCallbacks,
                                   .summary = "Lists callbacks",
                                   .more = "The newest first. state=failed are the dead letters.",
                                   .parameters = kListCallbacksParameters,
                                   .paging = Paging::kCountedPages,
                                   .answers = {{{200, "A page.", &kCallbackPage}}}};

constexpr RouteInfo kRedeliverCallbacks{
    .method = HttpMethod::kPost,
    .path = "/callbacks/redeliver",
    .permission = Permission::kOperate,
    .id = "redeliverCallbacks",
    .tag = Tag::kCallbacks,
    .summary = "Sends many callbacks again that did not get through",
    .more =
        "Dead letters, the oldest first, each under its id and with all its retries anew; about a "
        "thousand at most, of the oldest 10000.",
    .body = &codec::kRedeliverRequestSchema,
    .answers = {{{200, "How many are sent.", &kRedelivered}}}};

constexpr RouteInfo kRedeliverCallback{
    .method = HttpMethod::kPost,
    .path = "/callbacks/{id}/redeliver",
    .permission = Permission::kOperate,
    .id = "redeliverCallback",
    .tag = Tag::kCallbacks,
    .summary = "Sends a callback again that did not get through",
    .more =
        "A dead letter goes on under its id, which its receiver knows it by, with all its retries "
        "anew. One that a person has cancelled is followed by a new one.",
    .subject = &kRunId,
    .body = &codec::kNothingSchema,
    .body_need = BodyNeed::kOptional,
    .answers = {{{202, "What is sent.", &codec::kCallbackSchema, kLocation}}}};

}  // namespace

void AddCallbackRoutes(http_server::Router& router,
                       const std::shared_ptr<HandlerContext>& context) {
    AddRoute(router, context, kListCallbacks,
             [context](const Call& call) { return List(*context, call); });
    AddRoute(router, context, kRedeliverCallbacks,
             [context](const Call& call) { return RedeliverMany(*context, call); });
    AddRoute(router, context, kRedeliverCallback,
             [context](const Call& call) { return Redeliver(*context, call); });
}

}  // namespace ksana::api
