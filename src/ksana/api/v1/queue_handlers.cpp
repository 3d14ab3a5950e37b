#include "ksana/api/v1/handlers.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "ksana/api/edge/object_text.hpp"
#include "ksana/api/edge/query_reader.hpp"
#include "ksana/api/v1/queue_report.hpp"
#include "ksana/engine/services/type_service.hpp"

namespace ksana::api {
namespace {

using http_server::JsonResponse;
using http_server::Method;
using http_server::Permission;
using http_server::Response;

std::string RateText(double rate) { return fmt::format("{:.3f}", rate); }

std::string LineText(const QueueLine& line, TimePoint now) {
    ObjectText text;
    if (line.kind) text.Put("kind", model::NameOf(*line.kind));
    text.Put("type", line.type).Put("category", line.category);
    text.Put("scheduled", line.scheduled).Put("queued", line.queued);
    text.Put("running", line.running).Put("held", line.held);
    text.Put("completing", line.completing);
    if (line.oldest) {
        text.Put("oldest_queued_for", std::max(now - *line.oldest, Duration::zero()));
    }
    text.Raw("submitted_per_second", RateText(line.submitted_per_second));
    text.Raw("finished_per_second", RateText(line.finished_per_second));
    text.Raw("failed_per_second", RateText(line.failed_per_second));
    return text.Take();
}

std::string LinesText(const std::vector<QueueLine>& lines, TimePoint now) {
    std::vector<std::string> items;
    items.reserve(lines.size());
    for (const QueueLine& line : lines) items.push_back(LineText(line, now));
    return fmt::format("[{}]", fmt::join(items, ","));
}

Result<Response> ShowQueues(const HandlerContext& context, const Call& call) {
    api::QueryReader reader(call.request);
    QueueQuestion question{.type = reader.Text("type"),
                           .category = reader.Text("category"),
                           .category_of = [&](const std::string& code) {
                               const auto type = context.services.types.book().Find(code);
                               return type ? type->category : std::string();
                           }};
    KSANA_TRY_VOID(reader.Finish());
    KSANA_TRY(const QueueReport report, ReadQueues(context.services.store, question));
    return JsonResponse(200, ObjectText()
                                 .Put("at", report.at)
                                 .Put("window", kRateWindow)
                                 .Raw("items", LinesText(report.types, report.at))
                                 .Raw("categories", LinesText(report.categories, report.at))
                                 .Take());
}

}  // namespace

void AddQueueRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context) {
    AddRoute(router, context,
             {Method::kGet, "/queues", Permission::kRead,
              "How much waits, for how long, and how fast it goes"},
             [context](const Call& call) { return ShowQueues(*context, call); });
}

}  // namespace ksana::api
