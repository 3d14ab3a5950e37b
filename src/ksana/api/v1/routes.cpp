#include "ksana/api/v1/routes.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "ksana/api/edge/entity_tag.hpp"
#include "ksana/api/edge/object_text.hpp"
#include "ksana/api/edge/query_reader.hpp"
#include "ksana/api/v1/handlers.hpp"
#include "ksana/api/v1/openapi_text.hpp"

namespace ksana::api {
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
Result<Response> ShowSettings(const HandlerContext& context, const Call& call) {
    KSANA_TRY_VOID(api::QueryReader(call.request).Finish());
    std::vector<std::string> items;
    for (const ShownSetting& setting : context.services.settings) {
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
    const auto context = std::make_shared<HandlerContext>(services);
    router.AddHeaderUnder("/api/v1", "Ksana-Version", services.version);
    AddJobRoutes(router, context);
    AddJobListRoutes(router, context);
    AddRunRoutes(router, context);
    AddInsightRoutes(router, context);
    AddCalendarRoutes(router, context);
    AddGroupRoutes(router, context);
    AddLimitRoutes(router, context);
    AddAuditRoutes(router, context);
    AddBackfillRoutes(router, context);
    AddEventRoutes(router, context);
    AddCallbackRoutes(router, context);
    AddAlertRoutes(router, context);
    AddTaskRoutes(router, context);
    AddAgentRoutes(router, context);
    AddTypeRoutes(router, context);
    AddQueueRoutes(router, context);
    AddRoute(router, context,
             {Method::kGet, "/settings", Permission::kRead, "How this server is configured"},
             [context](const Call& call) { return ShowSettings(*context, call); });
    // Public: it tells nothing about this server that its documentation does not.
    AddRoute(router, context,
             {Method::kGet, "/openapi.json", Permission::kPublic, "The description of this API",
              Where::kInline},
             ShowDescription);
}

}  // namespace ksana::api
