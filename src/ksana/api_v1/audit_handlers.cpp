#include "ksana/api_v1/audit_handlers.hpp"

#include "ksana/api/query_reader.hpp"
#include "ksana/api_v1/list_answer.hpp"
#include "ksana/codec/audit_view.hpp"

namespace ksana::api_v1 {
namespace {

using http_server::Method;
using http_server::Permission;
using http_server::Request;
using http_server::Response;

// The newest first.
Result<Response> ListEvents(Desk& desk, const Request& request) {
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
    KSANA_TRY_VOID(OpenCursor(request, desk.cursors, wish));
    const auto list_events = [&](std::size_t limit, const std::string& cursor) {
        query.limit = limit;
        query.cursor = cursor;
        return desk.services.store.events().List(query);
    };
    KSANA_TRY(const ListPage list, FillPage(wish, list_events, codec::AuditEventToJson));
    return ListAnswer(request, desk.cursors, list);
}

}  // namespace

void AddAuditRoutes(http_server::Router& router, const std::shared_ptr<Desk>& desk) {
    AddRoute(router, desk,
             {Method::kGet, "/audit", Permission::kRead, "Lists what was done by whom"},
             [desk](const Call& call) { return ListEvents(*desk, call.request); });
}

}  // namespace ksana::api_v1
