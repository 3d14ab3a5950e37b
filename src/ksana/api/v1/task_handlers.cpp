#include "ksana/api/v1/handlers.hpp"

#include "ksana/api/edge/guard.hpp"
#include "ksana/codec/v1/run_view.hpp"
#include "ksana/codec/v1/task_codec.hpp"
#include "ksana/engine/services/task_service.hpp"

namespace ksana::api {
namespace {

using codec::ObjectSchema;
using codec::Schema;
using http_server::JsonResponse;
using http_server::Permission;
using http_server::Response;
using model::Run;
using store::SubmitVerdict;

// A payload of a megabyte, its escapes, and the other members of a task.
constexpr std::size_t kMaxTaskBody = std::size_t{8} << 20;
constexpr std::size_t kMaxBatchBody = std::size_t{64} << 20;

Response Made(const Run& run) {
    Response response = JsonResponse(201, codec::SubmittedRunToJson(run, false));
    response.headers.emplace_back("Location", "/api/v1/runs/" + run.id.ToString());
    return response;
}

Response AlreadyThere(const Run& run) {
    Response response = JsonResponse(200, codec::SubmittedRunToJson(run, true));
    response.headers.emplace_back("Location", "/api/v1/runs/" + run.id.ToString());
    response.headers.emplace_back("Ksana-Already", "true");
    return response;
}

std::string_view VerdictOf(const store::Submitted& outcome) {
    if (outcome.verdict == SubmitVerdict::kStored) return "stored";
    return outcome.other ? "conflict" : "already";
}

// Handlers that submit tasks. The routes share one object; pool threads call it concurrently.
class TaskHandlers {
  public:
    explicit TaskHandlers(const Services& services)
        : tasks_(services.tasks), store_(services.store) {}

    Result<Response> Submit(const Call& call) const {
        KSANA_TRY(model::NewTask task, codec::NewTaskFromJson(call.request.body));
        if (!task.id) task.id = call.id;
        if (task.trace_parent.empty()) task.trace_parent = TraceParentOf(call.request);
        KSANA_TRY(const store::Submitted outcome, tasks_.SubmitOne(std::move(task)));
        if (outcome.started) return Made(*outcome.started);
        if (outcome.other) return engine::TaskService::OtherTask(outcome.id);
        KSANA_TRY(const store::RunHistory there, store_.runs().Get(outcome.id));
        if (outcome.verdict == SubmitVerdict::kSameKey) return AlreadyThere(there.run);
        return Made(there.run);  // a repetition: the first answer was lost
    }

    Result<Response> SubmitBatch(const Call& call) const {
        KSANA_TRY(auto tasks,
                  codec::NewTasksFromJson(call.request.body,
                                          {.bytes = kMaxBatchBody, .tasks = store::kMaxBatch}));
        const std::string trace = TraceParentOf(call.request);
        for (model::NewTask& task : tasks) {
            if (task.trace_parent.empty()) task.trace_parent = trace;
        }
        KSANA_TRY(const auto outcomes, tasks_.Submit(std::move(tasks)));
        // Ids and names need no escapes. JsonOutput, which looks for some, would take 4 % of the
        // instructions of a task that comes in a batch.
        constexpr std::size_t kItem = 100;
        std::string body = R"({"results":[)";
        body.reserve(body.size() + outcomes.size() * kItem);
        for (const store::Submitted& outcome : outcomes) {
            if (body.back() == '}') body += ',';
            body.append(R"({"id":")").append(outcome.id.ToString()).append(R"(","verdict":")");
            body.append(VerdictOf(outcome));
            body.append(R"(","state":")").append(model::NameOf(outcome.state)).append(R"("})");
        }
        return JsonResponse(200, body.append("]}"));
    }

  private:
    engine::TaskService& tasks_;
    store::Store& store_;
};

Schema MakeBatchOutcome() {
    const Schema outcome =
        ObjectSchema()
            .Need("id", Schema::Id().Means("Of the run."))
            .Need("verdict", Schema::OneOf({"stored", "already", "conflict"})
                                 .Means("already: the run that is there holds the key, or is this "
                                        "task, sent before. conflict: another run has the id; "
                                        "nothing was stored for it."))
            .Need("state", Schema::Name<model::RunState>().Means("Where the run stands."));
    return ObjectSchema("What became of each task.")
        .Need("results", Schema::ListOf(outcome)
                             .AtMost(static_cast<std::int64_t>(store::kMaxBatch))
                             .Means("One for each task, in order."));
}

constexpr codec::NamedSchema kTaskBatchOutcome{"TaskBatchOutcome", &MakeBatchOutcome};

constexpr RouteInfo kSubmitRun{
    .method = HttpMethod::kPost,
    .path = "/runs",
    .permission = Permission::kWrite,
    .id = "submitRun",
    .tag = Tag::kRuns,
    .summary = "Submits a task",
    .more =
        "It becomes a run that waits for an agent. With an id, or an Idempotency-Key, it can be "
        "sent again. What it does not say is its type's, else the server's. The header "
        "traceparent makes it a part of that trace.",
    .body = &codec::kTaskDefinitionSchema,
    .answers = {{{200, "Another run holds its unique key: this one. Nothing was stored.",
                  &codec::kSubmittedRunSchema, kLocation | kAlready},
                 {201, "Stored. The same task under the same id is answered so again.",
                  &codec::kSubmittedRunSchema, kLocation}}},
    .body_limit = kMaxTaskBody};

constexpr RouteInfo kSubmitRuns{
    .method = HttpMethod::kPost,
    .path = "/runs/batch",
    .permission = Permission::kWrite,
    .id = "submitRuns",
    .tag = Tag::kRuns,
    .summary = "Submits many tasks at once",
    .more = "All are stored or none; faults are named below /runs/17.",
    .body = &codec::kTaskBatchSchema,
    .answers = {{{200, "One outcome for each task, in order.", &kTaskBatchOutcome}}},
    .body_limit = kMaxBatchBody};

}  // namespace

void AddTaskRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context) {
    const auto handlers = std::make_shared<const TaskHandlers>(context->services);
    const auto add = [&](const RouteInfo& info, auto handler) {
        AddRoute(router, context, info,
                 [handlers, handler](const Call& call) { return ((*handlers).*handler)(call); });
    };
    add(kSubmitRun, &TaskHandlers::Submit);
    add(kSubmitRuns, &TaskHandlers::SubmitBatch);
}

}  // namespace ksana::api
