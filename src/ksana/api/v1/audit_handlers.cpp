#include "ksana/api/v1/handlers.hpp"

#include "ksana/api/edge/list_answer.hpp"
#include "ksana/api/edge/query_reader.hpp"
#include "ksana/codec/v1/audit_view.hpp"

namespace ksana::api {
namespace {

using http_server::Method;
using http_server::Permission;
using http_server::Request;
using http_server::Response;

// The newest first.
Result<Response> ListEvents(HandlerContext& context, const Request& request) {
    api::QueryReader reader(request);
    store::EventQuery query;
    query.filter.tenant = reader.Text("tenant");
    query.filter.resource_type = reader.Text("resource_type");
    query.filter.resource_id = reader.Text("resource_id");
    query.filter.action = reader.Text("action");
    query.filter.user = reader.Text("user");
    query.filter.from = reader.Time("from");
    query.filter.until = reader.Time("until");
    PageWish wish = ReadPage(reader, false);
    KSANA_TRY_VOID(reader.Finish());
    KSANA_TRY_VOID(OpenCursor(request, context.cursors, wish));
    const auto list_events = [&](std::size_t limit, const std::string& cursor) {
        query.limit = limit;
        query.cursor = cursor;
        return context.services.store.events().List(query);
    };
    KSANA_TRY(const ListPage list, FillPage(wish, list_events, codec::AuditEventToJson));
    return ListAnswer(request, context.cursors, list);
}

}  // namespace

void AddAuditRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context) {
    AddRoute(router, context,
             {Method::kGet, "/audit", Permission::kRead, "Lists what was done by whom"},
             [context](const Call& call) { return ListEvents(*context, call.request); });
}

}  // namespace ksana::api
