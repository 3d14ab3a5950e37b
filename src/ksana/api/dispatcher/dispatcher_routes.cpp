#include "ksana/api/dispatcher/dispatcher_routes.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "ksana/api/dispatcher/numbered_page.hpp"
#include "ksana/api/dispatcher/task_history.hpp"
#include "ksana/api/dispatcher/told_faults.hpp"
#include "ksana/api/edge/guard.hpp"
#include "ksana/api/edge/member_routes.hpp"
#include "ksana/codec/dispatcher/dispatcher_execution.hpp"
#include "ksana/codec/dispatcher/dispatcher_task.hpp"
#include "ksana/engine/services/job_service.hpp"

namespace ksana::api {
namespace {

using codec::DispatcherTask;
using codec::DispatcherView;
using http_server::JsonResponse;
using http_server::Permission;
using http_server::Request;
using http_server::Response;
using model::Job;

constexpr std::size_t kRecentExecutions = 10;
constexpr std::size_t kTasksAtOnce = 500;
// About how many jobs one read examines for the filter, and how many reads may end so.
constexpr std::size_t kExaminedJobs = 10'000;
constexpr std::size_t kCutReads = 10;
constexpr std::size_t kNamedDependants = 20;  // in the refusal of a deletion
// Why a task is INACTIVE, in the words of /api/v1.
constexpr const char* kDeletedReason = "deleted through /api/tasks";

Error NoDispatcherTask(const std::string& id) {
    return {Code::kNotFound, fmt::format("there is no task \"{}\"", id)};
}

std::string DispatcherTaskText(const Job& job, DispatcherView view) {
    JsonOutput output;
    output.BeginObject();
    codec::WriteDispatcherTask(output, job, view);
    output.EndObject();
    return output.Take();
}

Error InWordsOfTask(Error error) {
    error.problems = codec::InDispatcherWords(std::move(error.problems));
    return error;
}

// Reads status=ACTIVE or INACTIVE.
std::optional<bool> ReadActive(QueryReader& reader) {
    static constexpr std::array<std::string_view, 2> kWords = {"ACTIVE", "INACTIVE"};
    const std::string word = reader.Text("status");
    if (word.empty()) return std::nullopt;
    if (word == kWords[0]) return true;
    if (word != kWords[1]) reader.NotAllowed("status", word, kWords);
    return false;
}

// Handlers of /api/tasks. The routes share one object; pool threads call it concurrently.
class DispatcherTaskHandlers {
  public:
    explicit DispatcherTaskHandlers(const DispatcherServices& services)
        : services_(services), history_(services.store, services.published) {}

    Result<Response> Create(const Request& request) const {
        KSANA_TRY(DispatcherTask task,
                  codec::DispatcherTaskFromJson(request.body, services_.defaults.retry));
        KSANA_TRY_VOID(Check(task));
        const auto created = services_.jobs.Create(std::move(task.job), ActorOf(request));
        if (!created) return InWordsOfTask(created.error());
        Response response = JsonResponse(201, DispatcherTaskText(*created, DispatcherView::kWhole));
        response.headers.emplace_back("Location", "/api/tasks/" + created->id);
        return response;
    }

    // Counts all tasks up to kDispatcherDepth: the store's own count would include jobs of the
    // queue that have no cron schedule, which are no tasks.
    Result<Response> List(const Request& request) const {
        QueryReader reader(request);
        const NumberedPage page = ReadNumberedPage(reader);
        store::JobQuery query;
        query.filter.kind = model::ActionKind::kQueue;
        query.filter.enabled = ReadActive(reader);
        query.filter.name = reader.Text("name");
        query.filter.type = reader.Text("type");
        query.filter.text = reader.Text("q");
        query.sort = store::JobSort::kCreated;
        query.limit = kTasksAtOnce;
        query.look = kExaminedJobs;
        KSANA_TRY_VOID(reader.Finish());
        NumberedItems found;
        std::size_t read = 0;
        std::size_t cut = 0;
        do {
            KSANA_TRY(const store::Page<Job> jobs, services_.store.jobs().List(query));
            for (const Job& job : jobs.items) {
                if (!codec::IsDispatcherTask(job)) continue;
                const bool shown = found.total >= page.begin() && found.total < page.end();
                if (shown) found.items.push_back(DispatcherTaskText(job, DispatcherView::kListed));
                ++found.total;
            }
            read += jobs.items.size();
            cut += jobs.ended_early ? 1 : 0;
            query.cursor = jobs.next;
            found.exact = jobs.next.empty();
        } while (!found.exact && read < kDispatcherDepth && cut < kCutReads);
        return NumberedAnswer(page, found);
    }

    Result<Response> Get(const Request& request) const {
        KSANA_TRY(const Job job, Find(request));
        KSANA_TRY(const auto recent, history_.Recent(job.id, kRecentExecutions));
        KSANA_TRY(const std::string statistics, history_.Statistics(job.id));
        JsonOutput output;
        output.BeginObject();
        codec::WriteDispatcherTask(output, job, DispatcherView::kWhole);
        output.Key("recent_executions");
        output.Raw(fmt::format("[{}]", fmt::join(recent, ",")));
        output.Key("statistics");
        output.Raw(statistics);
        output.EndObject();
        return JsonResponse(200, output.Take());
    }

    // Runs that exist keep what they were made with, so a change is effective at the next fire.
    Result<Response> Put(const Request& request) const {
        const std::string& id = request.Parameter("id");
        const auto replace = [&](Job& job) -> Result<void> {
            if (!codec::IsDispatcherTask(job)) return NoDispatcherTask(id);
            KSANA_TRY(DispatcherTask task,
                      codec::ReplacedDispatcherTask(request.body, job, services_.defaults.retry));
            KSANA_TRY_VOID(Check(task));
            if (task.version && *task.version != job.state.version) {
                return Error(Code::kConflict,
                             fmt::format("the task has been changed since version {} was read",
                                         *task.version));
            }
            job = std::move(task.job);
            return {};
        };
        return Answered(services_.jobs.Change(id, {}, replace, ActorOf(request)), id);
    }

    // Document D, 3.5: the task becomes INACTIVE; its history stays.
    Result<Response> Delete(const Request& request) const {
        KSANA_TRY(const Job job, Find(request));
        KSANA_TRY_VOID(CheckDependants(job.id));
        if (!job.enabled) return JsonResponse(200, DispatcherTaskText(job, DispatcherView::kWhole));
        return Answered(services_.jobs.Pause(job.id, kDeletedReason, ActorOf(request)), job.id);
    }

    Result<Response> Trigger(const Request& request) const {
        KSANA_TRY(std::string params, codec::TriggerParamsFromJson(request.body));
        KSANA_TRY(const Job job, Find(request));
        KSANA_TRY(const model::Run run, services_.jobs.RunNow({.id = job.id,
                                                               .parameters = std::move(params),
                                                               .obeys_overlap = false,
                                                               .run_id = {}},
                                                              ActorOf(request)));
        const auto execution = history_.Executions(run, {}).front();
        Response response =
            JsonResponse(201, codec::ExecutionToJson(run, execution, DispatcherView::kListed));
        response.headers.emplace_back(
            "Location", fmt::format("/api/tasks/{}/executions/{}", job.id,
                                    codec::ExecutionId(run.id, execution.retry_count)));
        return response;
    }

    Result<Response> ListExecutions(const Request& request) const {
        QueryReader reader(request);
        const NumberedPage page = ReadNumberedPage(reader);
        KSANA_TRY_VOID(reader.Finish());
        KSANA_TRY(const Job job, Find(request));
        KSANA_TRY(const NumberedItems found, history_.Page(job.id, page));
        return NumberedAnswer(page, found);
    }

    Result<Response> GetExecution(const Request& request) const {
        KSANA_TRY(const Job job, Find(request));
        const std::string& id = request.Parameter("execution");
        KSANA_TRY(auto found, history_.Find(job.id, id));
        if (found) return JsonResponse(200, *std::move(found));
        return Error(Code::kNotFound,
                     fmt::format("task \"{}\" has no execution \"{}\"", job.id, id));
    }

  private:
    // Returns the faults of the text and those of the values, all at once.
    Result<void> Check(const DispatcherTask& task) const {
        auto problems =
            WithUntold(task.problems, codec::InDispatcherWords(services_.jobs.FaultsOf(task.job)));
        if (!problems.empty()) return Error(std::move(problems), task.untold);
        return {};
    }

    // Document D, 9.3. A dependant that is INACTIVE is deleted itself, in the document's sense.
    Result<void> CheckDependants(const std::string& id) const {
        KSANA_TRY(const std::vector<std::string> ids, services_.store.jobs().Dependants(id));
        std::vector<std::string> active;
        for (std::size_t at = 0; at < ids.size() && active.size() < kNamedDependants;
             at += kTasksAtOnce) {
            const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(at);
            const auto end =
                begin + static_cast<std::ptrdiff_t>(std::min(kTasksAtOnce, ids.size() - at));
            KSANA_TRY(const auto jobs, services_.store.jobs().GetMany({begin, end}));
            for (const Job& job : jobs) {
                if (job.enabled && active.size() < kNamedDependants) active.push_back(job.id);
            }
        }
        if (active.empty()) return {};
        return Error(Code::kConflict, fmt::format("other tasks depend on task \"{}\": {}", id,
                                                  fmt::join(active, ", ")));
    }

    Result<Job> Find(const Request& request) const {
        const std::string& id = request.Parameter("id");
        auto job = services_.store.jobs().Get(id);
        if (job && codec::IsDispatcherTask(*job)) return job;
        if (!job && job.error().code != Code::kNotFound) return job.error();
        return NoDispatcherTask(id);
    }

    static Result<Response> Answered(const Result<Job>& job, const std::string& id) {
        if (job) return JsonResponse(200, DispatcherTaskText(*job, DispatcherView::kWhole));
        return job.error().code == Code::kNotFound ? NoDispatcherTask(id)
                                                   : InWordsOfTask(job.error());
    }

    DispatcherServices services_;
    TaskHistory history_;
};

}  // namespace

void AddDispatcherRoutes(http_server::Router& router, const DispatcherServices& services) {
    using Handlers = DispatcherTaskHandlers;
    const MemberRoutes add(router, std::make_shared<const Handlers>(services));
    add(HttpMethod::kPost, "/api/tasks", Permission::kWrite, "Makes a task", &Handlers::Create);
    add(HttpMethod::kGet, "/api/tasks", Permission::kRead, "Lists tasks", &Handlers::List);
    add(HttpMethod::kGet, "/api/tasks/{id}", Permission::kRead,
        "Shows a task with its recent executions", &Handlers::Get);
    add(HttpMethod::kPut, "/api/tasks/{id}", Permission::kWrite, "Replaces a task", &Handlers::Put);
    add(HttpMethod::kDelete, "/api/tasks/{id}", Permission::kWrite, "Makes a task inactive",
        &Handlers::Delete);
    add(HttpMethod::kPost, "/api/tasks/{id}/trigger", Permission::kOperate,
        "Executes a task at once", &Handlers::Trigger);
    add(HttpMethod::kGet, "/api/tasks/{id}/executions", Permission::kRead,
        "Lists the executions of a task", &Handlers::ListExecutions);
    add(HttpMethod::kGet, "/api/tasks/{id}/executions/{execution}", Permission::kRead,
        "Shows an execution with its log", &Handlers::GetExecution);
    AddDispatcherWorkerRoutes(router, services);
}

}  // namespace ksana::api
