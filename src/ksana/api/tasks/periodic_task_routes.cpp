#include "ksana/api/tasks/task_routes.hpp"

#include <fmt/core.h>

#include "ksana/api/edge/guard.hpp"
#include "ksana/api/edge/member_routes.hpp"
#include "ksana/api/tasks/task_lists.hpp"
#include "ksana/codec/dialects/periodic_task.hpp"
#include "ksana/codec/v1/job_view.hpp"

namespace ksana::api {
namespace {

using http_server::JsonResponse;
using http_server::Permission;
using http_server::Request;
using http_server::Response;
using model::Job;

Response ShowPeriodic(const Job& job, int status) {
    return JsonResponse(status, codec::PeriodicTaskToJson(job));
}

bool IsPeriodicTask(const Job& job) {
    return model::KindOf(job.action) == model::ActionKind::kQueue;
}

Error NoPeriodicTask(const std::string& id) {
    return {Code::kNotFound, fmt::format("there is no periodic task \"{}\"", id)};
}

// Renames the members that an error points to from those of a job to those of document T.
Error InTaskWords(Error error) {
    for (Problem& problem : error.problems) {
        if (problem.path.starts_with("/schedule")) problem.path = "/cron_expressions";
        if (problem.path == "/tenant") problem.path = "/tenant_id";
        if (problem.path == "/owner") problem.path = "/creator";
        if (problem.path == "/queue/payload") problem.path = "/ext";
        if (problem.path.starts_with("/queue/")) problem.path.erase(0, 6);
    }
    return error;
}

// Handlers of /periodic-task. The routes share one object; pool threads call it concurrently.
class PeriodicTaskHandlers {
  public:
    explicit PeriodicTaskHandlers(const TaskServices& services) : services_(services) {}

    Result<Response> Create(const Request& request) const {
        KSANA_TRY(Job job, codec::PeriodicTaskFromJson(request.body));
        const auto created = services_.jobs.Create(std::move(job), ActorOf(request));
        if (!created) return InTaskWords(created.error());
        Response response = ShowPeriodic(*created, 201);
        response.headers.emplace_back("Location", "/periodic-task/" + created->id);
        return response;
    }

    Result<Response> List(const Request& request) const {
        QueryReader reader(request);
        store::JobQuery query;
        query.filter.kind = model::ActionKind::kQueue;
        query.filter.type = reader.Text("type");
        query.filter.tenant = reader.Text("tenant_id");
        query.filter.owner = reader.Text("creator");
        ReadPlace(reader, query);
        KSANA_TRY_VOID(reader.Finish());
        KSANA_TRY(const store::Page<Job> page, services_.store.jobs().List(query));
        return WithNextPage(request, JsonResponse(200, codec::PeriodicTasksToJson(page.items)),
                            page.next);
    }

    Result<Response> Get(const Request& request) const {
        KSANA_TRY(const Job job, Find(request));
        return ShowPeriodic(job, 200);
    }

    Result<Response> Put(const Request& request) const {
        const std::string& id = request.Parameter("id");
        const auto replace = [&](Job& job) -> Result<void> {
            if (!IsPeriodicTask(job)) return NoPeriodicTask(id);
            return codec::ReplacePeriodicTask(job, request.body);
        };
        return Answered(services_.jobs.Change(id, {}, replace, ActorOf(request)), id);
    }

    Result<Response> Delete(const Request& request) const {
        KSANA_TRY(const Job job, Find(request));
        KSANA_TRY_VOID(services_.jobs.Delete(job.id, {}, ActorOf(request)));
        return http_server::NoContent();
    }

    Result<Response> Online(const Request& request) const {
        KSANA_TRY_VOID(codec::CheckEmptyBody(request.body));
        KSANA_TRY(const Job job, Find(request));
        return Answered(services_.jobs.Resume(job.id, ActorOf(request)), job.id);
    }

    // The reason "offline" replaces the one that marks a new periodic task: once offline, it is no
    // longer New.
    Result<Response> Offline(const Request& request) const {
        KSANA_TRY_VOID(codec::CheckEmptyBody(request.body));
        KSANA_TRY(const Job job, Find(request));
        return Answered(services_.jobs.Pause(job.id, "offline", ActorOf(request)), job.id);
    }

  private:
    Result<Job> Find(const Request& request) const {
        const std::string& id = request.Parameter("id");
        auto job = services_.store.jobs().Get(id);
        if (job && IsPeriodicTask(*job)) return job;
        if (!job && job.error().code != Code::kNotFound) return job.error();
        return NoPeriodicTask(id);
    }

    static Result<Response> Answered(const Result<Job>& job, const std::string& id) {
        if (job) return ShowPeriodic(*job, 200);
        return job.error().code == Code::kNotFound ? NoPeriodicTask(id) : InTaskWords(job.error());
    }

    TaskServices services_;
};

}  // namespace

void AddPeriodicTaskRoutes(http_server::Router& router, const TaskServices& services) {
    const auto handlers = std::make_shared<const PeriodicTaskHandlers>(services);
    const MemberRoutes add(router, handlers);
    add(HttpMethod::kPost, "/periodic-task", Permission::kWrite, "Makes a periodic task",
        &PeriodicTaskHandlers::Create);
    add(HttpMethod::kGet, "/periodic-task", Permission::kRead, "Lists periodic tasks",
        &PeriodicTaskHandlers::List);
    add(HttpMethod::kGet, "/periodic-task/{id}", Permission::kRead, "Shows a periodic task",
        &PeriodicTaskHandlers::Get);
    add(HttpMethod::kPut, "/periodic-task/{id}", Permission::kWrite, "Replaces a periodic task",
        &PeriodicTaskHandlers::Put);
    add(HttpMethod::kDelete, "/periodic-task/{id}", Permission::kWrite, "Deletes a periodic task",
        &PeriodicTaskHandlers::Delete);
    add(HttpMethod::kPost, "/periodic-task/{id}/online", Permission::kOperate,
        "Lets a periodic task fire", &PeriodicTaskHandlers::Online);
    add(HttpMethod::kPost, "/periodic-task/{id}/offline", Permission::kOperate,
        "Keeps a periodic task from firing", &PeriodicTaskHandlers::Offline);
}

}  // namespace ksana::api
