#include "ksana/api/v1/handlers.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "ksana/api/edge/object_text.hpp"
#include "ksana/api/edge/query_reader.hpp"
#include "ksana/api/v1/queue_report.hpp"
#include "ksana/engine/services/type_service.hpp"

namespace ksana::api {
namespace {

using codec::ObjectSchema;
using codec::Schema;
using http_server::JsonResponse;
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

constexpr Parameter kListQueuesParameters[] = {
    {"type", "Only this type."},
    {"category", "Only types of this category."},
};

// Schema of what LineText writes.
ObjectSchema Line(std::string_view means, bool of_type) {
    ObjectSchema line(means);
    if (of_type) {
        line.Need("kind", Schema::Name<model::ActionKind>().Means("Who carries them out."));
        line.Need("type", Schema::Text().Means("Type of the runs."));
    }
    return line.Need("category", Schema::Text().Means("Category of the type."))
        .Need("scheduled",
              Schema::Count().Means("Wait for their time, also for that of their next try."))
        .Need("queued", Schema::Count().Means("Can be taken now."))
        .Need("running", Schema::Count().Means("Under way."))
        .Need("held", Schema::Count().Means("Wait for a person."))
        .Need("completing", Schema::Count().Means("Done; their callback is not delivered."))
        .May("oldest_queued_for", Schema::Length().Means("How long the first of them waits."))
        .Need("submitted_per_second", Schema::Number().AtLeast(0).Means("Runs that came."))
        .Need("finished_per_second", Schema::Number().AtLeast(0).Means("Runs that ended."))
        .Need("failed_per_second", Schema::Number().AtLeast(0).Means("Of those: failed."));
}

Schema MakeQueueDepth() { return Line("What waits of one type.", true); }
Schema MakeCategoryDepth() { return Line("What waits of all types of a category.", false); }

constexpr codec::NamedSchema kQueueDepth{"QueueDepth", &MakeQueueDepth};
constexpr codec::NamedSchema kCategoryDepth{"CategoryDepth", &MakeCategoryDepth};

Schema MakeQueues() {
    return ObjectSchema("How much waits.")
        .Need("at", Schema::Time().Means("When it was counted."))
        .Need("window", Schema::Length().Means("Rates are of so long a time."))
        .Need("items", Schema::ListOf(Schema::Ref(kQueueDepth)).Means("By type."))
        .Need("categories", Schema::ListOf(Schema::Ref(kCategoryDepth)).Means("By category."));
}

constexpr codec::NamedSchema kQueues{"Queues", &MakeQueues};

constexpr RouteInfo kListQueues{
    .method = HttpMethod::kGet,
    .path = "/queues",
    .permission = Permission::kRead,
    .id = "listQueues",
    .tag = Tag::kRuns,
    .summary = "How much waits, for how long, and how fast it goes",
    .parameters = kListQueuesParameters,
    .answers = {{{200, "By type, and their sums by category.", &kQueues}}}};

}  // namespace

void AddQueueRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context) {
    AddRoute(router, context, kListQueues,
             [context](const Call& call) { return ShowQueues(*context, call); });
}

}  // namespace ksana::api
