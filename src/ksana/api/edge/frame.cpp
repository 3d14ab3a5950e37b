#include "ksana/api/edge/frame.hpp"

#include <array>
#include <string_view>

#include "ksana/api/edge/query_reader.hpp"
#include "ksana/engine/calendars/calendar_service.hpp"
#include "ksana/engine/plan/schedule_cache.hpp"
#include "ksana/http_server/routing/problem.hpp"
#include "ksana/insight/sources.hpp"
#include "ksana/schedule/zone/zone_database.hpp"

namespace ksana::api {
namespace {

using http_server::Fault;
using http_server::Request;
using http_server::Response;
using http_server::SameIgnoringCase;

constexpr std::string_view kPrefix = "/api/v1";

bool HasBody(HttpMethod method) {
    return method == HttpMethod::kPost || method == HttpMethod::kPut ||
           method == HttpMethod::kPatch;
}

// Returns whether a body of this media type is read, always as JSON. The form type is accepted
// because curl sends it by default; the guard, not this check, keeps out pages of other origins.
bool IsJsonType(std::string_view type) {
    type = type.substr(0, type.find(';'));
    while (type.ends_with(' ')) type.remove_suffix(1);
    constexpr std::array<std::string_view, 3> kTypes = {
        "application/json", "application/merge-patch+json", "application/x-www-form-urlencoded"};
    for (const std::string_view known : kTypes) {
        if (SameIgnoringCase(type, known)) return true;
    }
    return false;
}

// Checks what every route requires. Returns a refusal, or nothing if the request may go on.
Result<std::optional<Response>> Check(const Request& request, const RouteInfo& info) {
    if (HasBody(request.method) && !request.body.empty()) {
        const auto type = request.headers.Find("Content-Type");
        if (type && !IsJsonType(*type)) {
            return std::optional(
                Refuse(request, {.status = 415,
                                 .code = "unsupported_media_type",
                                 .detail = "a body is application/json, that of a PATCH "
                                           "application/merge-patch+json"}));
        }
    }
    // Reads check their own query; requests that change something take none, unless they say so.
    const bool reads = request.method == HttpMethod::kGet || request.method == HttpMethod::kHead;
    if (!reads && info.parameters.empty()) {
        KSANA_TRY_VOID(api::QueryReader(request).Finish());
    }
    return std::optional<Response>();
}

Result<Response> Answer(HandlerContext& context, const RouteInfo& info, const CallHandler& handler,
                        const Request& request) {
    KSANA_TRY(std::optional<Response> refusal, Check(request, info));
    if (refusal) return *std::move(refusal);
    if (request.method == HttpMethod::kPost) return context.keys.Run(request, handler);
    return handler({.request = request});
}

Response WithRetryAfter(Response response) {
    if (http_server::AsksToRetry(response.status)) {
        response.headers.emplace_back("Retry-After", "1");
    }
    return response;
}

template <class H>
void Add(http_server::Router& router, HandlerContext& context, const RouteInfo& info, H handler) {
    const bool quick = info.quick_read && context.services.quick_reads;
    http_server::Route route(info.method, std::string(kPrefix) + info.path, info.permission,
                             info.summary, quick ? http_server::Where::kInline : info.where,
                             std::move(handler));
    if (info.body == nullptr) (void)std::move(route).WithBodyLimit(http_server::kIgnoredBody);
    if (info.body_limit) (void)std::move(route).WithBodyLimit(*info.body_limit);
    router.Add(std::move(route));
    context.description.Add(info);
}

}  // namespace

insight::Sources InsightSources(const Services& services) {
    const engine::CalendarCache& book = services.calendars.book();
    return {.store = services.store,
            .schedules = services.schedules,
            .zones = services.zones,
            .find_calendar = [&book](std::string_view name) { return book.Find(name); },
            .find_rules = [&book](std::string_view name) { return book.Rules(name); }};
}

Response Refuse(const Request& request, const Fault& fault) {
    return ProblemOf(fault, {.instance = request.path, .request_id = request.request_id});
}

void AddRoute(http_server::Router& router, const std::shared_ptr<HandlerContext>& context,
              const RouteInfo& info, CallHandler handler) {
    Add(router, *context, info,
        http_server::Handler([context, &info, handler = std::move(handler)](
                                 const Request& request) -> Result<Response> {
            auto answer = Answer(*context, info, handler, request);
            return WithRetryAfter(answer ? *std::move(answer) : ProblemOf(answer.error(), request));
        }));
}

void AddAsyncRoute(http_server::Router& router, const std::shared_ptr<HandlerContext>& context,
                   const RouteInfo& info, http_server::AsyncHandler handler) {
    Add(router, *context, info,
        http_server::AsyncHandler(
            [&info, handler = std::move(handler)](Request request, http_server::Reply reply) {
                auto refusal = Check(request, info);
                if (!refusal) {
                    reply.Fail(refusal.error());
                } else if (*refusal) {
                    reply.Send(**std::move(refusal));
                } else {
                    handler(std::move(request), std::move(reply));
                }
            }));
}

}  // namespace ksana::api
