#include "ksana/api_v1/routes.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "ksana/api/query_reader.hpp"
#include "ksana/api_v1/agent_handlers.hpp"
#include "ksana/api_v1/alert_handlers.hpp"
#include "ksana/api_v1/audit_handlers.hpp"
#include "ksana/api_v1/backfill_handlers.hpp"
#include "ksana/api_v1/calendar_handlers.hpp"
#include "ksana/api_v1/callback_handlers.hpp"
#include "ksana/api_v1/entity_tag.hpp"
#include "ksana/api_v1/event_handlers.hpp"
#include "ksana/api_v1/group_handlers.hpp"
#include "ksana/api_v1/insight_handlers.hpp"
#include "ksana/api_v1/job_handlers.hpp"
#include "ksana/api_v1/job_lists.hpp"
#include "ksana/api_v1/limit_handlers.hpp"
#include "ksana/api_v1/object_text.hpp"
#include "ksana/api_v1/openapi_text.hpp"
#include "ksana/api_v1/queue_handlers.hpp"
#include "ksana/api_v1/run_handlers.hpp"
#include "ksana/api_v1/task_handlers.hpp"
#include "ksana/api_v1/type_handlers.hpp"

namespace ksana::api_v1 {
namespace {

using http_server::JsonResponse;
using http_server::Method;
using http_server::Permission;
using http_server::Response;
using http_server::Where;

Result<Response> ShowDescription(const Call& call) {
    KSANA_TRY_VOID(api::QueryReader(call.request).Finish());
    static const std::string tag = BodyTag(kOpenApi);
    return WithTag(call.request, JsonResponse(200, std::string(kOpenApi)), tag);
}

// Read only: they are a file's, an environment's or a command line's.
Result<Response> ShowSettings(const Desk& desk, const Call& call) {
    KSANA_TRY_VOID(api::QueryReader(call.request).Finish());
    std::vector<std::string> items;
    for (const ShownSetting& setting : desk.services.settings) {
        items.push_back(ObjectText()
                            .Put("key", setting.key)
                            .Put("value", setting.value)
                            .Put("source", setting.source)
                            .Take());
    }
    return JsonResponse(200, fmt::format("[{}]", fmt::join(items, ",")));
}

}  // namespace

void AddRoutes(http_server::Router& router, const Services& services) {
    const auto desk = std::make_shared<Desk>(services);
    router.AddHeaderUnder("/api/v1", "Ksana-Version", services.version);
    AddJobRoutes(router, desk);
    AddJobListRoutes(router, desk);
    AddRunRoutes(router, desk);
    AddInsightRoutes(router, desk);
    AddCalendarRoutes(router, desk);
    AddGroupRoutes(router, desk);
    AddLimitRoutes(router, desk);
    AddAuditRoutes(router, desk);
    AddBackfillRoutes(router, desk);
    AddEventRoutes(router, desk);
    AddCallbackRoutes(router, desk);
    AddAlertRoutes(router, desk);
    AddTaskRoutes(router, desk);
    AddAgentRoutes(router, desk);
    AddTypeRoutes(router, desk);
    AddQueueRoutes(router, desk);
    AddRoute(router, desk,
             {Method::kGet, "/settings", Permission::kRead, "How this server is configured"},
             [desk](const Call& call) { return ShowSettings(*desk, call); });
    // Public: it tells nothing about this server that its documentation does not.
    AddRoute(router, desk,
             {Method::kGet, "/openapi.json", Permission::kPublic, "The description of this API",
              Where::kInline},
             ShowDescription);
}

}  // namespace ksana::api_v1
