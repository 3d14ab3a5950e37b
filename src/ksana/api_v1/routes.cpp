#include "ksana/api_v1/routes.hpp"

#include "ksana/api/query_reader.hpp"
#include "ksana/api_v1/calendar_handlers.hpp"
#include "ksana/api_v1/entity_tag.hpp"
#include "ksana/api_v1/group_handlers.hpp"
#include "ksana/api_v1/insight_handlers.hpp"
#include "ksana/api_v1/job_handlers.hpp"
#include "ksana/api_v1/job_lists.hpp"
#include "ksana/api_v1/limit_handlers.hpp"
#include "ksana/api_v1/openapi_text.hpp"
#include "ksana/api_v1/run_handlers.hpp"

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

}  // namespace

void AddRoutes(http_server::Router& router, const Services& services) {
    const auto desk = std::make_shared<Desk>(services);
    AddJobRoutes(router, desk);
    AddJobListRoutes(router, desk);
    AddRunRoutes(router, desk);
    AddInsightRoutes(router, desk);
    AddCalendarRoutes(router, desk);
    AddGroupRoutes(router, desk);
    AddLimitRoutes(router, desk);
    // Public: it tells nothing about this server that its documentation does not.
    AddRoute(router, desk,
             {Method::kGet, "/openapi.json", Permission::kPublic, "The description of this API",
              Where::kInline},
             ShowDescription);
}

}  // namespace ksana::api_v1
