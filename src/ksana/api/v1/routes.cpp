#include "ksana/api/v1/routes.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "ksana/api/edge/entity_tag.hpp"
#include "ksana/api/edge/object_text.hpp"
#include "ksana/api/edge/query_reader.hpp"
#include "ksana/api/v1/handlers.hpp"

namespace ksana::api {
namespace {

using codec::ObjectSchema;
using codec::Schema;
using http_server::JsonResponse;
using http_server::Permission;
using http_server::Response;
using http_server::Where;

Result<Response> ShowDescription(const HandlerContext& context, const Call& call) {
    KSANA_TRY_VOID(api::QueryReader(call.request).Finish());
    const auto text = context.description.Text();
    return WithTag(call.request, JsonResponse(200, text->json), text->entity_tag);
}

// Settings are read-only: they come from a file, the environment or the command line.
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

Schema MakeSettings() {
    return Schema::ListOf(
        ObjectSchema()
            .Need("key", Schema::Text().Means("Name of the setting."))
            .Need("value", Schema::Text().Means("Without secrets."))
            .Need("source", Schema::Text()
                                .Means("default, or the line of the file, the variable or the flag "
                                       "that set it.")
                                .Example("ksana.toml:3")));
}

constexpr codec::NamedSchema kSettings{"Settings", &MakeSettings};
constexpr codec::NamedSchema kOpenApi{"Description", &Schema::AnyObject};

constexpr RouteInfo kGetDescription{.method = HttpMethod::kGet,
                                    .path = "/openapi.json",
                                    .permission = Permission::kPublic,
                                    .id = "getDescription",
                                    .tag = Tag::kDescription,
                                    .summary = "This description",
                                    .answers = {{{200, "OpenAPI 3.1.", &kOpenApi, kETag}}},
                                    .where = Where::kInline};

constexpr RouteInfo kListSettings{
    .method = HttpMethod::kGet,
    .path = "/settings",
    .permission = Permission::kRead,
    .id = "listSettings",
    .tag = Tag::kServer,
    .summary = "How this server is configured",
    .answers = {{{200,
                  "Every setting, in the order of the documentation. Secrets are hidden. Settings "
                  "come from a file, variables and flags, and cannot be changed here.",
                  &kSettings}}}};

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
    AddWorkerRoutes(router, context);
    AddQueueRoutes(router, context);
    AddNodeRoutes(router, context);
    AddRoute(router, context, kListSettings,
             [context](const Call& call) { return ShowSettings(*context, call); });
    // Public: it reveals nothing about this server that the documentation does not.
    AddRoute(router, context, kGetDescription,
             [context](const Call& call) { return ShowDescription(*context, call); });
}

}  // namespace ksana::api
