#include "ksana/api/timer/timer_routes.hpp"

#include <fmt/core.h>

#include "ksana/api/edge/guard.hpp"
#include "ksana/api/edge/query_reader.hpp"
#include "ksana/codec/dialects/timer_job.hpp"
#include "ksana/codec/v1/definitions.hpp"
#include "ksana/http_server/routing/problem.hpp"

namespace ksana::api {
namespace {

using http_server::JsonResponse;
using http_server::NoContent;
using http_server::Permission;
using http_server::Request;
using http_server::Response;
using http_server::Route;
using http_server::Where;
using model::Job;

Result<store::JobQuery> ListQueryOf(const Request& request) {
    QueryReader reader(request);
    store::JobQuery query;
    query.limit = reader.Number("limit", 1, store::kMaxPageSize, kTimerListSize);
    query.cursor = reader.Text("cursor");
    query.filter.enabled = reader.Flag("enabled");
    query.filter.text = reader.Text("q");
    KSANA_TRY_VOID(reader.Finish());
    return query;
}

// Handlers of /jobs. The routes share one object; I/O threads (Get, if quick_reads) and pool
// threads call it concurrently.
class TimerHandlers {
  public:
    explicit TimerHandlers(const TimerServices& services) : services_(services) {}

    Result<Response> Create(const Request& request) const {
        KSANA_TRY(Job job, codec::TimerJobFromJson(request.body));
        KSANA_TRY(const Job created, services_.jobs.Create(std::move(job), ActorOf(request)));
        Response response = Show(created, 201);
        response.headers.emplace_back("Location", "/jobs/" + created.id);
        return response;
    }

    Result<Response> List(const Request& request) const {
        KSANA_TRY(const store::JobQuery query, ListQueryOf(request));
        KSANA_TRY(const store::Page<Job> page, services_.store.jobs().List(query));
        Response response =
            JsonResponse(200, codec::TimerJobsToJson(page.items, services_.defaults));
        if (!page.next.empty()) {
            response.headers.emplace_back("Link", http_server::NextLink(request, page.next));
            response.headers.emplace_back("X-Next-Cursor", page.next);
        }
        return response;
    }

    Result<Response> Get(const Request& request) const {
        KSANA_TRY(const Job job, services_.store.jobs().Get(request.Parameter("id")));
        return Show(job, 200);
    }

    Result<Response> Patch(const Request& request) const {
        const auto patch = [&](Job& job) { return codec::PatchTimerJob(job, request.body); };
        KSANA_TRY(const Job job,
                  services_.jobs.Change(request.Parameter("id"), {}, patch, ActorOf(request)));
        return Show(job, 200);
    }

    Result<Response> Delete(const Request& request) const {
        KSANA_TRY_VOID(services_.jobs.Delete(request.Parameter("id"), {}, ActorOf(request)));
        return NoContent();
    }

    // 202: the run is stored and will be carried out; the job's last_status shows its result.
    Result<Response> RunNow(const Request& request) const {
        KSANA_TRY(std::string parameters, codec::RunParametersFromJson(request.body));
        KSANA_TRY(const model::Run run, services_.jobs.RunNow({.id = request.Parameter("id"),
                                                               .parameters = std::move(parameters),
                                                               .obeys_overlap = false},
                                                              ActorOf(request)));
        return JsonResponse(202, fmt::format(R"({{"job_id":{},"run_id":"{}"}})",
                                             codec::TextToJson(run.job_id), run.id.ToString()));
    }

    Result<Response> Pause(const Request& request) const {
        KSANA_TRY(const Job job,
                  services_.jobs.Pause(request.Parameter("id"), "", ActorOf(request)));
        return Show(job, 200);
    }

    Result<Response> Resume(const Request& request) const {
        KSANA_TRY(const Job job, services_.jobs.Resume(request.Parameter("id"), ActorOf(request)));
        return Show(job, 200);
    }

  private:
    Response Show(const Job& job, int status) const {
        return JsonResponse(status, codec::TimerJobToJson(job, services_.defaults));
    }

    TimerServices services_;
};

}  // namespace

void AddTimerRoutes(http_server::Router& router, const TimerServices& services) {
    const auto handlers = std::make_shared<const TimerHandlers>(services);
    const auto add = [&](HttpMethod method, const char* pattern, Permission permission,
                         const char* description, Where where, auto handler) {
        router.Add(Route(method, pattern, permission, description, where,
                         http_server::Handler([handlers, handler](const Request& request) {
                             return ((*handlers).*handler)(request);
                         })));
    };
    const Where read_one = services.quick_reads ? Where::kInline : Where::kPool;
    add(HttpMethod::kPost, "/jobs", Permission::kWrite, "Creates a job", Where::kPool,
        &TimerHandlers::Create);
    add(HttpMethod::kGet, "/jobs", Permission::kRead, "Lists jobs", Where::kPool,
        &TimerHandlers::List);
    add(HttpMethod::kGet, "/jobs/{id}", Permission::kRead, "Shows a job", read_one,
        &TimerHandlers::Get);
    add(HttpMethod::kPatch, "/jobs/{id}", Permission::kWrite, "Changes parts of a job",
        Where::kPool, &TimerHandlers::Patch);
    add(HttpMethod::kDelete, "/jobs/{id}", Permission::kWrite, "Deletes a job", Where::kPool,
        &TimerHandlers::Delete);
    add(HttpMethod::kPost, "/jobs/{id}/run-now", Permission::kOperate,
        "Runs a job at once, beside its schedule", Where::kPool, &TimerHandlers::RunNow);
    add(HttpMethod::kPost, "/jobs/{id}/pause", Permission::kOperate, "Keeps a job from firing",
        Where::kPool, &TimerHandlers::Pause);
    add(HttpMethod::kPost, "/jobs/{id}/resume", Permission::kOperate, "Lets a job fire again",
        Where::kPool, &TimerHandlers::Resume);
}

}  // namespace ksana::api
