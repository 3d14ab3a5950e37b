#include "ksana/api/v1/handlers.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "ksana/api/edge/guard.hpp"
#include "ksana/api/edge/list_answer.hpp"
#include "ksana/api/edge/object_text.hpp"
#include "ksana/api/edge/query_reader.hpp"
#include "ksana/codec/records/backfill_codec.hpp"
#include "ksana/codec/v1/job_view.hpp"
#include "ksana/engine/backfill/backfill_service.hpp"

namespace ksana::api {
namespace {

using codec::ObjectSchema;
using codec::Schema;
using http_server::JsonResponse;
using http_server::Permission;
using http_server::Request;
using http_server::Response;

// Fire times that a dry run shows.
constexpr std::size_t kShown = 100;

std::string PreviewText(const engine::BackfillParams& wish,
                        const engine::BackfillPreview& preview) {
    const std::vector<TimePoint>& fires = preview.fires;
    std::vector<std::string> times;
    for (std::size_t i = 0; i < std::min(fires.size(), kShown); ++i) {
        times.push_back(fmt::format("\"{}\"", FormatTime(fires[i])));
    }
    ObjectText text;
    text.Put("dry_run", true).Put("job_id", wish.job_id).Put("from", wish.from);
    text.Put("to", wish.to).Put("count", static_cast<std::int64_t>(fires.size()));
    text.Put("already_there", preview.already_there);
    if (!fires.empty()) text.Put("first", fires.front()).Put("last", fires.back());
    text.Raw("fires", fmt::format("[{}]", fmt::join(times, ",")));
    text.Put("truncated", fires.size() > kShown);
    return text.Take();
}

Result<Uuid> BackfillIdOf(const Request& request) {
    const std::string& text = request.Parameter("id");
    const auto id = Uuid::Parse(text);
    if (id) return *id;
    return Error(Code::kNotFound, fmt::format("there is no backfill \"{}\"", text));
}

// `dry_run` is true unless the request says otherwise: a backfill may be thousands of runs.
Result<Response> Start(HandlerContext& context, const Call& call) {
    KSANA_TRY(codec::BackfillRequest asked, codec::BackfillRequestFromJson(call.request.body));
    const engine::BackfillParams wish{.job_id = call.request.Parameter("id"),
                                      .from = asked.from,
                                      .to = asked.to,
                                      .max = asked.max,
                                      .per_minute = asked.per_minute,
                                      .overlap = asked.overlap,
                                      .parameters = std::move(asked.parameters),
                                      .id = call.id};
    engine::BackfillService& backfills = context.services.backfills;
    if (asked.dry_run) {
        KSANA_TRY(const engine::BackfillPreview preview, backfills.Preview(wish));
        return JsonResponse(200, PreviewText(wish, preview));
    }
    KSANA_TRY(const model::Backfill made, backfills.Start(wish, api::ActorOf(call.request)));
    Response response = JsonResponse(202, codec::BackfillViewToJson(made));
    response.headers.emplace_back("Location", "/api/v1/backfills/" + made.id.ToString());
    return response;
}

Result<Response> List(HandlerContext& context, const Request& request) {
    api::QueryReader reader(request);
    PageParams wish = ReadPage(reader, false);
    KSANA_TRY_VOID(reader.Finish());
    KSANA_TRY_VOID(OpenCursor(request, context.cursors, wish));
    const auto list = [&](std::size_t limit, const std::string& cursor) {
        return context.services.backfills.List(limit, cursor);
    };
    KSANA_TRY(const ListPage page, FillPage(wish, list, codec::BackfillViewToJson));
    return ListAnswer(request, context.cursors, page);
}

Result<Response> Show(HandlerContext& context, const Request& request) {
    KSANA_TRY_VOID(api::QueryReader(request).Finish());
    KSANA_TRY(const Uuid id, BackfillIdOf(request));
    KSANA_TRY(const model::Backfill backfill, context.services.backfills.Get(id));
    return JsonResponse(200, codec::BackfillViewToJson(backfill));
}

Result<Response> Cancel(HandlerContext& context, const Request& request) {
    KSANA_TRY_VOID(codec::CheckEmptyBody(request.body));
    KSANA_TRY(const Uuid id, BackfillIdOf(request));
    KSANA_TRY(const model::Backfill backfill,
              context.services.backfills.Cancel(id, api::ActorOf(request)));
    return JsonResponse(200, codec::BackfillViewToJson(backfill));
}

constexpr Parameter kBackfillId{
    .name = "id", .means = "Of the backfill.", .place = Place::kPath, .example = kRunId.example};

Schema MakeBackfillPreview() {
    return ObjectSchema("What a backfill would be.")
        .Need("dry_run", Schema::Flag().Means("true."))
        .Need("job_id", Schema::Text().Means("The job whose fires these are."))
        .Need("from", Schema::Time().Means("As asked."))
        .Need("to", Schema::Time().Means("As asked."))
        .Need("count", Schema::Count().Means("Fires."))
        .Need("already_there",
              Schema::Count().Means("Of them: those that have a run and get no other."))
        .May("first", Schema::Time().Means("The first fire."))
        .May("last", Schema::Time().Means("The last."))
        .Need("fires", Schema::ListOf(Schema::Time())
                           .AtMost(static_cast<std::int64_t>(kShown))
                           .Means("The first of them."))
        .Need("truncated", Schema::Flag().Means("There are more than fires shows."));
}

constexpr codec::NamedSchema kBackfillPreview{"BackfillPreview", &MakeBackfillPreview};
constexpr codec::NamedSchema kBackfillPage{"BackfillPage", &MakePage<codec::kBackfillSchema>};

constexpr RouteInfo kBackfillJob{
    .method = HttpMethod::kPost,
    .path = "/jobs/{id}/backfill",
    .permission = Permission::kOperate,
    .id = "backfillJob",
    .tag = Tag::kBackfills,
    .summary = "Makes runs for fires of the past, or says which it would be",
    .subject = &kJobId,
    .body = &codec::kBackfillRequestSchema,
    .answers = {{{200, "A dry run: what it would be. Nothing was changed.", &kBackfillPreview},
                 {202, "It has begun.", &codec::kBackfillSchema, kLocation}}}};

constexpr RouteInfo kListBackfills{
    .method = HttpMethod::kGet,
    .path = "/backfills",
    .permission = Permission::kRead,
    .id = "listBackfills",
    .tag = Tag::kBackfills,
    .summary = "Lists backfills",
    .paging = Paging::kPages,
    .answers = {{{200, "A page, the oldest first. Those that are over are kept for 30 days.",
                  &kBackfillPage}}}};

constexpr RouteInfo kGetBackfill{
    .method = HttpMethod::kGet,
    .path = "/backfills/{id}",
    .permission = Permission::kRead,
    .id = "getBackfill",
    .tag = Tag::kBackfills,
    .summary = "Shows a backfill",
    .subject = &kBackfillId,
    .answers = {{{200, "The backfill. Its runs are those with its id as their parent.",
                  &codec::kBackfillSchema}}}};

constexpr RouteInfo kCancelBackfill{
    .method = HttpMethod::kPost,
    .path = "/backfills/{id}/cancel",
    .permission = Permission::kOperate,
    .id = "cancelBackfill",
    .tag = Tag::kBackfills,
    .summary = "Ends a backfill, and cancels its runs that have not started",
    .subject = &kBackfillId,
    .body = &codec::kNothingSchema,
    .body_need = BodyNeed::kOptional,
    .answers = {{{200, "It is cancelled; what runs is left to end.", &codec::kBackfillSchema}}}};

}  // namespace

void AddBackfillRoutes(http_server::Router& router,
                       const std::shared_ptr<HandlerContext>& context) {
    AddRoute(router, context, kBackfillJob,
             [context](const Call& call) { return Start(*context, call); });
    AddRoute(router, context, kListBackfills,
             [context](const Call& call) { return List(*context, call.request); });
    AddRoute(router, context, kGetBackfill,
             [context](const Call& call) { return Show(*context, call.request); });
    AddRoute(router, context, kCancelBackfill,
             [context](const Call& call) { return Cancel(*context, call.request); });
}

}  // namespace ksana::api
