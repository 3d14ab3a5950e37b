#include "ksana/api/admin/admin_routes.hpp"

#include <fmt/core.h>

#include "ksana/api/admin/job_log.hpp"
#include "ksana/api/edge/guard.hpp"
#include "ksana/api/edge/member_routes.hpp"
#include "ksana/api/edge/object_text.hpp"
#include "ksana/api/edge/query_reader.hpp"
#include "ksana/codec/dialects/admin_log.hpp"

namespace ksana::api {
namespace {

using http_server::JsonResponse;
using http_server::Permission;
using http_server::Request;
using http_server::Response;

std::string RequiredText(QueryReader& reader, std::string_view name) {
    std::string text = reader.Text(name);
    if (text.empty()) reader.Fault(name, "is missing", "missing");
    return text;
}

// Returns the `id` of a query that has nothing else.
Result<std::string> IdOf(const Request& request) {
    QueryReader reader(request);
    std::string id = RequiredText(reader, "id");
    KSANA_TRY_VOID(reader.Finish());
    return id;
}

// Reads the change from the body or, if that is empty, from the query.
Result<codec::AdminStatusChange> StatusChangeOf(const Request& request) {
    QueryReader reader(request);
    if (!request.body.empty()) {
        KSANA_TRY_VOID(reader.Finish());
        return codec::AdminStatusChangeFromJson(request.body);
    }
    codec::AdminStatusChange change;
    change.id = RequiredText(reader, "id");
    const auto enabled = reader.Flag("enabled");
    if (!enabled) reader.Fault("enabled", "is missing", "missing");
    change.enabled = enabled.value_or(false);
    KSANA_TRY_VOID(reader.Finish());
    return change;
}

// Handlers of /admin. The routes share one object; pool threads call it concurrently.
class AdminHandlers {
  public:
    explicit AdminHandlers(const AdminServices& services)
        : jobs_(services.jobs), log_(services.store, services.runs) {}

    Result<Response> List(const Request& request) const {
        KSANA_TRY_VOID(QueryReader(request).Finish());
        KSANA_TRY(const std::vector<AdminJob> jobs, jobs_.List());
        return JsonResponse(200, codec::AdminJobsToJson(jobs));
    }

    Result<Response> Get(const Request& request) const {
        KSANA_TRY(const std::string id, IdOf(request));
        return Show(id);
    }

    Result<Response> Trigger(const Request& request) const {
        KSANA_TRY(const std::string id, IdOf(request));
        KSANA_TRY(const auto parameters, codec::AdminParametersFromJson(request.body));
        KSANA_TRY_VOID(jobs_.Trigger(id, parameters, ActorOf(request)));
        return JsonResponse(200, ObjectText().Put("id", id).Put("triggered", true).Take());
    }

    Result<Response> UpdateStatus(const Request& request) const {
        KSANA_TRY(const codec::AdminStatusChange change, StatusChangeOf(request));
        KSANA_TRY_VOID(jobs_.SetEnabled(change.id, change.enabled, ActorOf(request)));
        return Show(change.id);
    }

    Result<Response> ListLog(const Request& request) const {
        KSANA_TRY(const LogQuery query, LogQueryOf(request));
        KSANA_TRY(const LogPage page, log_.Read(query));
        return JsonResponse(200, codec::AdminLogPageToJson({.runs = page.runs,
                                                            .total = page.total,
                                                            .exact = page.exact,
                                                            .page = query.page,
                                                            .size = query.size}));
    }

    Result<Response> GetLog(const Request& request) const {
        KSANA_TRY(const std::string id, IdOf(request));
        KSANA_TRY(const model::Run run, log_.Get(id));
        return JsonResponse(200, codec::AdminLogEntryToJson(run));
    }

    Result<Response> CleanLog(const Request& request) const {
        KSANA_TRY(const CleanQuery query, CleanQueryOf(request));
        KSANA_TRY(const Cleaned cleaned, log_.Clean(query, ActorOf(request)));
        return JsonResponse(
            200, ObjectText().Put("deleted", cleaned.runs).Put("more", cleaned.more).Take());
    }

  private:
    Result<Response> Show(const std::string& id) const {
        KSANA_TRY(const AdminJob job, jobs_.Get(id));
        return JsonResponse(200, codec::AdminJobToJson(job));
    }

    AdminJobs& jobs_;
    JobLog log_;
};

}  // namespace

void AddAdminRoutes(http_server::Router& router, AdminServices services) {
    const MemberRoutes add(router, std::make_shared<const AdminHandlers>(services));
    add(HttpMethod::kGet, "/admin/job/list", Permission::kRead, "Lists jobs and their status",
        &AdminHandlers::List);
    add(HttpMethod::kGet, "/admin/job/get", Permission::kRead, "Shows a job and its status",
        &AdminHandlers::Get);
    add(HttpMethod::kPost, "/admin/job/trigger", Permission::kOperate, "Runs a job once",
        &AdminHandlers::Trigger);
    add(HttpMethod::kPut, "/admin/job/update-status", Permission::kOperate,
        "Enables or disables a job", &AdminHandlers::UpdateStatus);
    add(HttpMethod::kGet, "/admin/job-log/page", Permission::kRead, "Lists runs that have ended",
        &AdminHandlers::ListLog);
    add(HttpMethod::kGet, "/admin/job-log/get", Permission::kRead, "Shows a run that has ended",
        &AdminHandlers::GetLog);
    add(HttpMethod::kDelete, "/admin/job-log/clean", Permission::kWrite,
        "Deletes runs that have ended", &AdminHandlers::CleanLog);
}

}  // namespace ksana::api
