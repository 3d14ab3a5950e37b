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

using engine::StoredIncident;
using engine::StoredRule;
using http_server::JsonResponse;
using http_server::Method;
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

// Whether the conditions of a change hold.
bool MayChange(const Request& request, const std::optional<StoredRule>& before) {
    if (!before) return !request.headers.Find("If-Match");
    if (request.headers.Find("If-None-Match") == "*") return false;
    return IfMatch(request, before->version, TagOf(*before)) != MatchWish::kDiffers;
}

Response AlertChanged412(const Request& request) {
    return Refuse(request, {.status = 412,
                            .code = "precondition_failed",
                            .detail = "the alert is not what the condition asks for: read it "
                                      "again"});
}

class AlertHandlers {
  public:
    explicit AlertHandlers(std::shared_ptr<HandlerContext> context)
        : desk_(std::move(context)), alerts_(desk_->services.alerts) {}

    Result<Response> List(const Call& call) const {
        api::QueryReader reader(call.request);
        PageWish wish = ReadPage(reader, false);
        KSANA_TRY_VOID(reader.Finish());
        KSANA_TRY_VOID(OpenCursor(call.request, desk_->cursors, wish));
        const auto list = [this](std::size_t limit, const std::string& cursor) {
            return alerts_.shelf().ListRules(limit, cursor);
        };
        KSANA_TRY(const ListPage page, FillPage(wish, list, AlertText));
        return ListAnswer(call.request, desk_->cursors, page);
    }

    Result<Response> Get(const Call& call) const {
        KSANA_TRY_VOID(api::QueryReader(call.request).Finish());
        KSANA_TRY(const StoredRule stored, alerts_.shelf().GetRule(IdOf(call)));
        return WithTag(call.request, JsonResponse(200, AlertText(stored)), TagOf(stored));
    }

    Result<Response> Put(const Call& call) const {
        const std::string& id = IdOf(call);
        if (!IsIdentifier(id)) {
            return Error(
                std::vector<Problem>{{"/id", "must be 1 to 128 letters, digits and - _ . :"}});
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
        KSANA_TRY(const StoredRule stored, alerts_.shelf().GetRule(IdOf(call)));
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

    // By rule. What has only been counted is none yet.
    Result<Response> Incidents(const Call& call) const {
        api::QueryReader reader(call.request);
        const std::string rule = reader.Text("rule");
        const auto state = reader.Name<IncidentState>("state");
        PageWish wish = ReadPage(reader, false);
        KSANA_TRY_VOID(reader.Finish());
        KSANA_TRY_VOID(OpenCursor(call.request, desk_->cursors, wish));
        const auto list = [&](std::size_t limit,
                              const std::string& cursor) -> Result<store::Page<StoredIncident>> {
            KSANA_TRY(auto page, alerts_.shelf().ListIncidents(rule, limit, cursor));
            std::erase_if(page.items, [&](const StoredIncident& one) {
                return !one.incident.opened_at || (state && one.incident.state != *state);
            });
            return page;
        };
        const auto show = [](const StoredIncident& one) {
            return codec::IncidentViewToJson(one.incident);
        };
        KSANA_TRY(const ListPage page, FillPage(wish, list, show));
        return ListAnswer(call.request, desk_->cursors, page);
    }

  private:
    std::shared_ptr<HandlerContext> desk_;
    engine::AlertService& alerts_;
};

}  // namespace

void AddAlertRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context) {
    const auto handlers = std::make_shared<const AlertHandlers>(context);
    const auto add = [&](const RouteInfo& info, auto handler) {
        AddRoute(router, context, info,
                 [handlers, handler](const Call& call) { return ((*handlers).*handler)(call); });
    };
    add({Method::kGet, "/alerts", Permission::kRead, "Lists alerts"}, &AlertHandlers::List);
    add({Method::kGet, "/alerts/{id}", Permission::kRead, "Shows an alert"}, &AlertHandlers::Get);
    add({Method::kPut, "/alerts/{id}", Permission::kWrite, "Makes or replaces an alert"},
        &AlertHandlers::Put);
    add({Method::kDelete, "/alerts/{id}", Permission::kWrite, "Deletes an alert"},
        &AlertHandlers::Delete);
    add({Method::kPost, "/alerts/{id}/test", Permission::kOperate,
         "Sends a notice to the channels of an alert"},
        &AlertHandlers::Test);
    add({Method::kGet, "/alert-incidents", Permission::kRead, "Lists what alerts have found"},
        &AlertHandlers::Incidents);
}

}  // namespace ksana::api
