#include "ksana/api/tasks/task_routes.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "ksana/api/edge/guard.hpp"
#include "ksana/api/edge/member_routes.hpp"
#include "ksana/api/tasks/task_lists.hpp"
#include "ksana/api/tasks/task_routes.hpp"
#include "ksana/codec/dialects/task_dialect.hpp"
#include "ksana/codec/v1/job_view.hpp"
#include "ksana/model/vocabulary.hpp"

namespace ksana::api {
namespace {

using http_server::JsonResponse;
using http_server::Permission;
using http_server::Request;
using http_server::Response;
using http_server::Route;
using http_server::Where;
using model::Run;

// Limit for the body of POST /task, which may be an array. Other bodies have the server's limit.
constexpr std::size_t kMaxTaskListBody = std::size_t{64} << 20;

Error NoTask(const std::string& id) {
    return {Code::kNotFound, fmt::format("there is no task \"{}\"", id)};
}

std::optional<std::string_view> WordOf(const Run& run) {
    return model::WordFor(model::Dialect::kTask, run.status.state, run.status.failures);
}

// States that GET /task lists without a status: all but history (T-12). Skipped and missed fires
// were never to be carried out and are no tasks.
constexpr model::RunStates kCurrentStates = static_cast<model::RunStates>(
    model::kAllStates & ~kHistoryStates & ~model::SetOf(model::RunState::kSkipped) &
    ~model::SetOf(model::RunState::kMissed));

// Handlers of /task, /task-his and /periodic-task-log. The routes share one object; pool threads
// call it concurrently.
class TaskDialectHandlers {
  public:
    explicit TaskDialectHandlers(const TaskServices& services) : services_(services) {}

    // Answers one task with the task, and an array with ids and statuses in the order of the array.
    Result<Response> Submit(const Request& request) const {
        KSANA_TRY(codec::SubmittedTasks wish,
                  codec::SubmittedTasksFromJson(request.body, kMaxTaskListBody, store::kMaxBatch));
        const std::string trace = TraceParentOf(request);
        for (model::NewTask& task : wish.tasks) task.trace_parent = trace;
        if (!wish.is_list) return SubmitOne(std::move(wish.tasks.front()));
        const auto submitted = services_.tasks.Submit(std::move(wish.tasks));
        if (!submitted) return InList(submitted.error());
        for (const store::Submitted& one : *submitted) {
            if (one.other) return engine::TaskService::OtherTask(one.id);
        }
        std::vector<std::string> items;
        items.reserve(submitted->size());
        for (const store::Submitted& one : *submitted) {
            const auto word = model::WordFor(model::Dialect::kTask, one.state, 0);
            items.push_back(fmt::format(R"({{"id":"{}","status":"{}"}})", one.id.ToString(),
                                        word.value_or("")));
        }
        return JsonResponse(201, fmt::format("[{}]", fmt::join(items, ",")));
    }

    Result<Response> List(const Request& request) const {
        return ListTasks(request, services_.store, kCurrentStates);
    }

    Result<Response> ListHistory(const Request& request) const {
        return ListTasks(request, services_.store, kHistoryStates);
    }

    Result<Response> ListLog(const Request& request) const {
        return ListPeriodicLog(request, services_.store);
    }

    Result<Response> Get(const Request& request) const {
        KSANA_TRY(const Run run, Find(request));
        return JsonResponse(200, codec::TaskToJson(run));
    }

    // Claims with the longest lease, so that the timeout of the type is the deadline (T-04): agents
    // of this dialect do not renew leases.
    Result<Response> Fetch(const Request& request) const {
        KSANA_TRY(codec::TaskFetch wish, codec::TaskFetchFromJson(request.body));
        model::AgentClaim claim;
        claim.worker = fmt::format("task-agent@{}", request.peer);
        claim.types = std::move(wish.types);
        claim.categories = std::move(wish.categories);
        claim.tenant = std::move(wish.tenant);
        claim.creator = std::move(wish.creator);
        claim.max = wish.limit;
        claim.lease = model::kMaxLease;
        KSANA_TRY(const store::Exchanged exchanged, services_.agents.Exchange({}, claim));
        return JsonResponse(200, codec::FetchedTasksToJson(exchanged.claimed.runs));
    }

    Result<Response> Report(const Request& request) const {
        KSANA_TRY(model::Event event, codec::TaskReportFromJson(request.body));
        KSANA_TRY(const Run before, Find(request));
        KSANA_TRY_VOID(services_.agents.Report({.run_id = before.id, .event = std::move(event)}));
        return Shown(before.id);
    }

    Result<Response> Process(const Request& request) const {
        KSANA_TRY(const codec::RemarkRequest wish, codec::RemarkRequestFromJson(request.body));
        KSANA_TRY(const Run before, Find(request));
        KSANA_TRY(const Run run, services_.runs.Resolve(before.id, wish.remark, ActorOf(request)));
        return JsonResponse(200, codec::TaskToJson(run));
    }

    // 202: the agent that has the task learns of this when it reports, or loses the task at its
    // deadline.
    Result<Response> Cancel(const Request& request) const {
        KSANA_TRY_VOID(codec::CheckEmptyBody(request.body));
        KSANA_TRY(const Run before, Find(request));
        KSANA_TRY(const Run run, services_.runs.Cancel(before.id, ActorOf(request)));
        return JsonResponse(model::IsFinal(run.status.state) ? 200 : 202, codec::TaskToJson(run));
    }

  private:
    Result<Response> SubmitOne(model::NewTask task) const {
        KSANA_TRY(const store::Submitted submitted, services_.tasks.SubmitOne(std::move(task)));
        if (submitted.other) return engine::TaskService::OtherTask(submitted.id);
        // The run is returned for kStored and kStarted only.
        const bool is_new = submitted.started.has_value();
        KSANA_TRY(Response response, Shown(submitted.id));
        response.status = is_new ? 201 : 200;
        response.headers.emplace_back("Location", "/task/" + submitted.id.ToString());
        return response;
    }

    // Removes "/runs" from the paths of faults: in this dialect the array is the whole body.
    static Error InList(Error error) {
        constexpr std::string_view kOutside = "/runs";
        for (Problem& problem : error.problems) {
            if (problem.path.starts_with(kOutside)) problem.path.erase(0, kOutside.size());
        }
        return error;
    }

    // Shows the run. 204 if it is deleted already: runs of a periodic task without a log go when
    // they end (T-14).
    Result<Response> Shown(const Uuid& id) const {
        const auto history = services_.store.runs().Get(id);
        if (history) return JsonResponse(200, codec::TaskToJson(history->run));
        if (history.error().code == Code::kNotFound) return http_server::NoContent();
        return history.error();
    }

    Result<Run> Find(const Request& request) const {
        const std::string& text = request.Parameter("id");
        const auto id = Uuid::Parse(text);
        if (!id) return NoTask(text);
        auto history = services_.store.runs().Get(*id);
        if (!history) {
            return history.error().code == Code::kNotFound ? NoTask(text) : history.error();
        }
        if (history->run.kind != model::ActionKind::kQueue || !WordOf(history->run)) {
            return NoTask(text);
        }
        return std::move(history->run);
    }

    TaskServices services_;
};

}  // namespace

void AddTaskRoutes(http_server::Router& router, const TaskServices& services) {
    const auto handlers = std::make_shared<const TaskDialectHandlers>(services);
    const MemberRoutes add(router, handlers);
    router.Add(Route(HttpMethod::kPost, "/task", Permission::kWrite,
                     "Submits a task, or an array of them", Where::kPool,
                     http_server::Handler(
                         [handlers](const Request& request) { return handlers->Submit(request); }))
                   .WithBodyLimit(kMaxTaskListBody));
    add(HttpMethod::kGet, "/task", Permission::kRead, "Lists tasks", &TaskDialectHandlers::List);
    add(HttpMethod::kPost, "/task/fetch", Permission::kOperate, "Hands tasks to an agent",
        &TaskDialectHandlers::Fetch);
    add(HttpMethod::kGet, "/task/{id}", Permission::kRead, "Shows a task",
        &TaskDialectHandlers::Get);
    add(HttpMethod::kPost, "/task/{id}/report", Permission::kOperate, "Takes an agent's result",
        &TaskDialectHandlers::Report);
    add(HttpMethod::kPost, "/task/{id}/process", Permission::kOperate,
        "Closes a task that waits for a person", &TaskDialectHandlers::Process);
    add(HttpMethod::kPost, "/task/{id}/cancel", Permission::kOperate, "Stops a task",
        &TaskDialectHandlers::Cancel);
    add(HttpMethod::kGet, "/task-his", Permission::kRead, "Lists tasks of the history",
        &TaskDialectHandlers::ListHistory);
    add(HttpMethod::kGet, "/periodic-task-log", Permission::kRead, "Lists what a periodic task did",
        &TaskDialectHandlers::ListLog);
    AddTaskMetadataRoutes(router, services);
    AddPeriodicTaskRoutes(router, services);
}

}  // namespace ksana::api
