#include "ksana/api/v1/handlers.hpp"

#include <array>
#include <charconv>

#include "ksana/api/edge/query_reader.hpp"
#include "ksana/api/events/event_streams.hpp"
#include "ksana/http_server/routing/stream.hpp"
#include "ksana/model/audit_event.hpp"

namespace ksana::api {
namespace {

using codec::Schema;
using http_server::Permission;
using http_server::Request;
using http_server::Response;

constexpr std::string_view kLastEventHeader = "Last-Event-ID";
constexpr std::array<std::string_view, 9> kTypes = {
    model::audit::kJob,      model::audit::kRun,   model::audit::kBackfill,
    model::audit::kCalendar, model::audit::kGroup, model::audit::kLimit,
    model::audit::kAlert,    model::audit::kType,  model::audit::kWorker};

std::optional<std::int64_t> NumberOf(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault != std::errc() || end != text.data() + text.size() || number < 0) return {};
    return number;
}

void ReadTypes(api::QueryReader& reader, std::vector<std::string>& types) {
    const std::string all = reader.Text("types");
    std::string_view rest = all;
    while (!rest.empty()) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        const std::string_view type = rest.substr(0, comma);
        if (std::ranges::find(kTypes, type) == kTypes.end()) {
            reader.NotAllowed("types", type, kTypes);
            return;
        }
        types.emplace_back(type);
        rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
}

// Last-Event-ID overrides `after`: a browser sends the header when it reconnects, so it is newer.
Result<EventRequest> WishOf(const Request& request) {
    api::QueryReader reader(request);
    EventRequest wish;
    wish.job_id = reader.Text("job_id");
    ReadTypes(reader, wish.types);
    const std::string after = reader.Text("after");
    if (!after.empty()) {
        wish.after = NumberOf(after);
        if (!wish.after) reader.Fault("after", "must be the id of an event, or 0");
    }
    KSANA_TRY_VOID(reader.Finish());
    const auto last = request.headers.Find(kLastEventHeader);
    if (last && !last->empty()) {
        wish.after = NumberOf(*last);
        if (!wish.after) {
            return Error(
                std::vector<Problem>{{"/headers/Last-Event-ID", "must be the id of an event"}});
        }
    }
    return wish;
}

Result<Response> Listen(HandlerContext& context, const Request& request) {
    KSANA_TRY(EventRequest wish, WishOf(request));
    wish.client = ClientOf(request);
    Response response{.status = 200, .content_type = "text/event-stream"};
    KSANA_TRY(response.stream, context.services.events.Open(std::move(wish)));
    response.headers.emplace_back("X-Accel-Buffering", "no");  // keeps proxies from buffering
    return response;
}

constexpr Parameter kStreamEventsParameters[] = {
    {"after",
     "The id of the last event that was seen; 0: everything that is kept. Without it: from now "
     "on."},
    {"types",
     "Comma-separated: job, run, backfill, calendar, group, limit, alert, type. Without it: all."},
    {"job_id", "What concerns this job only."},
    {.name = "Last-Event-ID",
     .means = "As after, and stronger: browsers send it when they come back.",
     .place = Place::kHeader},
};
constexpr codec::NamedSchema kEventStream{"EventStream", &codec::Schema::Text};

constexpr RouteInfo kStreamEvents{
    .method = HttpMethod::kGet,
    .path = "/events",
    .permission = Permission::kRead,
    .id = "streamEvents",
    .tag = Tag::kAudit,
    .summary = "Tells what happens, as it happens",
    .parameters = kStreamEventsParameters,
    .answers = {{{200,
                  "Server-sent events. Audit events have their number as id and are told again "
                  "after Last-Event-ID; run.<state> is told once, when a run has come to its end; "
                  "gap says that something was left out.",
                  &kEventStream, kNoHeader, "text/event-stream"}}}};

}  // namespace

void AddEventRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context) {
    AddRoute(router, context, kStreamEvents,
             [context](const Call& call) { return Listen(*context, call.request); });
}

}  // namespace ksana::api
