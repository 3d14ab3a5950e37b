#include "ksana/api/v1/handlers.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "ksana/api/edge/entity_tag.hpp"
#include "ksana/api/edge/guard.hpp"
#include "ksana/api/edge/list_answer.hpp"
#include "ksana/api/edge/query_reader.hpp"
#include "ksana/base/text/names.hpp"
#include "ksana/codec/v1/alert_codec.hpp"
#include "ksana/codec/v1/callback_codec.hpp"
#include "ksana/codec/v1/job_view.hpp"
#include "ksana/engine/alerts/alert_service.hpp"

namespace ksana::api {
namespace {

using codec::ObjectSchema;
using codec::Schema;
using engine::StoredIncident;
using engine::StoredRule;
using http_server::JsonResponse;
using http_server::Permission;
using http_server::Request;
using http_server::Response;
using model::IncidentState;

std::string AlertText(const StoredRule& stored) {
    return codec::AlertRuleViewToJson(stored.rule, stored.version, stored.updated_at);
}

std::string TagOf(const StoredRule& stored) {
    return DocumentTag(stored.version, AlertText(stored));
}

const std::string& IdOf(const Call& call) { return call.request.Parameter("id"); }

// Returns whether If-Match and If-None-Match allow the change.
bool MayChange(const Request& request, const std::optional<StoredRule>& before) {
    if (!before) return !request.headers.Find("If-Match");
    if (request.headers.Find("If-None-Match") == "*") return false;
    return IfMatch(request, before->version, TagOf(*before)) != MatchResult::kDiffers;
}

Response AlertChanged412(const Request& request) {
    return Refuse(request, {.status = 412,
                            .code = "precondition_failed",
                            .detail = "the alert is not what the condition asks for: read it "
                                      "again"});
}

// Handlers of alerts and their incidents. The routes share one object; pool threads call it
// concurrently.
class AlertHandlers {
  public:
    explicit AlertHandlers(std::shared_ptr<HandlerContext> context)
        : context_(std::move(context)), alerts_(context_->services.alerts) {}

    Result<Response> List(const Call& call) const {
        api::QueryReader reader(call.request);
        PageParams wish = ReadPage(reader, false);
        KSANA_TRY_VOID(reader.Finish());
        KSANA_TRY_VOID(OpenCursor(call.request, context_->cursors, wish));
        const auto list = [this](std::size_t limit, const std::string& cursor) {
            return alerts_.repository().ListRules(limit, cursor);
        };
        KSANA_TRY(const ListPage page, FillPage(wish, list, AlertText));
        return ListAnswer(call.request, context_->cursors, page);
    }

    Result<Response> Get(const Call& call) const {
        KSANA_TRY_VOID(api::QueryReader(call.request).Finish());
        KSANA_TRY(const StoredRule stored, alerts_.repository().GetRule(IdOf(call)));
        return WithTag(call.request, JsonResponse(200, AlertText(stored)), TagOf(stored));
    }

    Result<Response> Put(const Call& call) const {
        const std::string& id = IdOf(call);
        if (!IsIdentifier(id)) {
            return Error(std::vector<Problem>{{"/id", fmt::format("is {}", kIdentifierRule)}});
        }
        KSANA_TRY(const auto before, alerts_.Find(id));
        KSANA_TRY(model::AlertRule rule,
                  codec::AlertRuleFromJson(call.request.body, before ? &before->rule : nullptr));
        rule.id = id;
        if (!MayChange(call.request, before)) return AlertChanged412(call.request);
        KSANA_TRY(const StoredRule stored,
                  alerts_.Put(std::move(rule), before, api::ActorOf(call.request)));
        Response response = JsonResponse(before ? 200 : 201, AlertText(stored));
        response.headers.emplace_back("ETag", TagOf(stored));
        if (!before) response.headers.emplace_back("Location", "/api/v1/alerts/" + id);
        return response;
    }

    Result<Response> Delete(const Call& call) const {
        KSANA_TRY(const StoredRule stored, alerts_.repository().GetRule(IdOf(call)));
        if (!MayChange(call.request, stored)) return AlertChanged412(call.request);
        KSANA_TRY_VOID(alerts_.Delete(stored, api::ActorOf(call.request)));
        return http_server::NoContent();
    }

    Result<Response> Test(const Call& call) const {
        KSANA_TRY_VOID(codec::CheckEmptyBody(call.request.body));
        KSANA_TRY(const auto runs, alerts_.Test(IdOf(call)));
        std::vector<std::string> sent;
        for (const model::Run& run : runs) sent.push_back(codec::CallbackViewToJson(run));
        return JsonResponse(202, fmt::format("{{\"callbacks\":[{}]}}", fmt::join(sent, ",")));
    }

    // Lists incidents by rule. One that was counted but never opened is left out.
    Result<Response> Incidents(const Call& call) const {
        api::QueryReader reader(call.request);
        const std::string rule = reader.Text("rule");
        const auto state = reader.Name<IncidentState>("state");
        PageParams wish = ReadPage(reader, false);
        KSANA_TRY_VOID(reader.Finish());
        KSANA_TRY_VOID(OpenCursor(call.request, context_->cursors, wish));
        const auto list = [&](std::size_t limit,
                              const std::string& cursor) -> Result<store::Page<StoredIncident>> {
            KSANA_TRY(auto page, alerts_.repository().ListIncidents(rule, limit, cursor));
            std::erase_if(page.items, [&](const StoredIncident& one) {
                return !one.incident.opened_at || (state && one.incident.state != *state);
            });
            return page;
        };
        const auto show = [](const StoredIncident& one) {
            return codec::IncidentViewToJson(one.incident);
        };
        KSANA_TRY(const ListPage page, FillPage(wish, list, show));
        return ListAnswer(call.request, context_->cursors, page);
    }

  private:
    std::shared_ptr<HandlerContext> context_;
    engine::AlertService& alerts_;
};

constexpr Parameter kAlertId{
    .name = "id", .means = "Id of an alert.", .place = Place::kPath, .example = "nightly-broken"};
constexpr Parameter kListAlertIncidentsParameters[] = {
    {"rule", "Of this alert."},
    {"state", "In this state.", &Schema::Name<model::IncidentState>},
};

Schema MakeAlertTest() {
    return ObjectSchema("Notices that are sent.")
        .Need("callbacks", Schema::ListOf(Schema::Ref(codec::kCallbackSchema))
                               .AtMost(2)
                               .Means("One for each channel."));
}

constexpr codec::NamedSchema kAlertTest{"AlertTest", &MakeAlertTest};
constexpr codec::NamedSchema kAlertPage{"AlertPage", &MakePage<codec::kAlertSchema>};
constexpr codec::NamedSchema kIncidentPage{"IncidentPage", &MakePage<codec::kIncidentSchema>};

constexpr RouteInfo kListAlerts{.method = HttpMethod::kGet,
                                .path = "/alerts",
                                .permission = Permission::kRead,
                                .id = "listAlerts",
                                .tag = Tag::kAlerts,
                                .summary = "Lists alerts",
                                .more = "By id.",
                                .paging = Paging::kPages,
                                .answers = {{{200, "A page.", &kAlertPage}}}};

constexpr RouteInfo kGetAlert{
    .method = HttpMethod::kGet,
    .path = "/alerts/{id}",
    .permission = Permission::kRead,
    .id = "getAlert",
    .tag = Tag::kAlerts,
    .summary = "Shows an alert",
    .subject = &kAlertId,
    .answers = {{{200, "The alert; a secret as ***.", &codec::kAlertSchema, kETag}}}};

constexpr RouteInfo kPutAlert{
    .method = HttpMethod::kPut,
    .path = "/alerts/{id}",
    .permission = Permission::kWrite,
    .id = "putAlert",
    .tag = Tag::kAlerts,
    .summary = "Makes or replaces an alert",
    .more =
        "The whole of it. A secret that is written as *** stays as it is. It looks at what happens "
        "from when it was made, or enabled, on.",
    .subject = &kAlertId,
    .body = &codec::kAlertDefinitionSchema,
    .answers = {{{200, "Replaced.", &codec::kAlertSchema, kETag},
                 {201, "Made.", &codec::kAlertSchema, kETag | kLocation}}},
    .makes_subject = true};

constexpr RouteInfo kDeleteAlert{
    .method = HttpMethod::kDelete,
    .path = "/alerts/{id}",
    .permission = Permission::kWrite,
    .id = "deleteAlert",
    .tag = Tag::kAlerts,
    .summary = "Deletes an alert",
    .more = "What it has found goes with it; notices that are under way do not.",
    .subject = &kAlertId,
    .answers = {{{204, "Gone."}}}};

constexpr RouteInfo kTestAlert{
    .method = HttpMethod::kPost,
    .path = "/alerts/{id}/test",
    .permission = Permission::kOperate,
    .id = "testAlert",
    .tag = Tag::kAlerts,
    .summary = "Sends a notice to the channels of an alert",
    .more = "Also in quiet hours. Whether it got there is to be seen at the callbacks.",
    .subject = &kAlertId,
    .body = &codec::kNothingSchema,
    .body_need = BodyNeed::kOptional,
    .answers = {{{202, "What is sent.", &kAlertTest}}}};

constexpr RouteInfo kListAlertIncidents{
    .method = HttpMethod::kGet,
    .path = "/alert-incidents",
    .permission = Permission::kRead,
    .id = "listAlertIncidents",
    .tag = Tag::kAlerts,
    .summary = "Lists what alerts have found",
    .more = "By alert and subject. What is over is kept for a month.",
    .parameters = kListAlertIncidentsParameters,
    .paging = Paging::kPages,
    .answers = {{{200, "A page.", &kIncidentPage}}}};

}  // namespace

void AddAlertRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context) {
    const auto handlers = std::make_shared<const AlertHandlers>(context);
    const auto add = [&](const RouteInfo& info, auto handler) {
        AddRoute(router, context, info,
                 [handlers, handler](const Call& call) { return ((*handlers).*handler)(call); });
    };
    add(kListAlerts, &AlertHandlers::List);
    add(kGetAlert, &AlertHandlers::Get);
    add(kPutAlert, &AlertHandlers::Put);
    add(kDeleteAlert, &AlertHandlers::Delete);
    add(kTestAlert, &AlertHandlers::Test);
    add(kListAlertIncidents, &AlertHandlers::Incidents);
}

}  // namespace ksana::api
