#include "ksana/api/v1/handlers.hpp"

#include "ksana/api/edge/list_answer.hpp"
#include "ksana/api/edge/query_reader.hpp"
#include "ksana/codec/v1/audit_view.hpp"

namespace ksana::api {
namespace {

using http_server::Permission;
using http_server::Request;
using http_server::Response;

// Lists audit events, newest first.
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
    PageParams wish = ReadPage(reader, false);
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

constexpr Parameter kListAuditParameters[] = {
    kTenantFilter,
    {"resource_type", "job, run, backfill, type, calendar, group or limit."},
    {"resource_id",
     "Id of the job, run or backfill, code of the type, name of the calendar or group, `kind/name` "
     "of the limit."},
    {"action", "created, changed, paused, resumed, deleted, run_now, cancelled, retried."},
    {"user", "Who did it."},
    kFrom,
    kUntil,
};
constexpr codec::NamedSchema kAuditPage{"AuditPage", &MakePage<codec::kAuditEventSchema>};

constexpr RouteInfo kListAudit{.method = HttpMethod::kGet,
                               .path = "/audit",
                               .permission = Permission::kRead,
                               .id = "listAudit",
                               .tag = Tag::kAudit,
                               .summary = "Lists what was done by whom",
                               .parameters = kListAuditParameters,
                               .paging = Paging::kPages,
                               .answers = {{{200, "A page, the newest first.", &kAuditPage}}}};

}  // namespace

void AddAuditRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context) {
    AddRoute(router, context, kListAudit,
             [context](const Call& call) { return ListEvents(*context, call.request); });
}

}  // namespace ksana::api
