#include "ksana/api/timer_routes.hpp"

#include <fmt/core.h>

#include <charconv>

#include "ksana/base/json_pointer.hpp"
#include "ksana/codec/definitions.hpp"
#include "ksana/codec/timer_job.hpp"

namespace ksana::api {
namespace {

using http_server::JsonResponse;
using http_server::Method;
using http_server::NoContent;
using http_server::Permission;
using http_server::Request;
using http_server::Response;
using http_server::Route;
using http_server::Where;
using model::Job;

Error BadQuery(std::string_view name, std::string message) {
    return Error(std::vector<Problem>{{fmt::format("/query/{}", name), std::move(message)}});
}

Result<std::size_t> LimitOf(const Request& request) {
    const auto text = request.QueryValue("limit");
    if (!text) return kTimerListSize;
    std::size_t limit = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), limit);
    const bool whole = error == std::errc() && end == text->data() + text->size();
    if (!whole || limit < 1 || limit > store::kMaxPageSize) {
        return BadQuery("limit", fmt::format("must be 1 to {}", store::kMaxPageSize));
    }
    return limit;
}

Result<std::optional<bool>> EnabledOf(const Request& request) {
    const auto text = request.QueryValue("enabled");
    if (!text) return std::optional<bool>();
    if (*text == "true") return std::optional(true);
    if (*text == "false") return std::optional(false);
    return BadQuery("enabled", "must be true or false");
}

Result<void> CheckQueryNames(const Request& request) {
    for (const auto& [name, value] : request.query) {
        if (name == "limit" || name == "cursor" || name == "enabled" || name == "q") continue;
        return BadQuery(name, "is not known; there are limit, cursor, enabled and q");
    }
    return {};
}

Result<store::JobQuery> ListQueryOf(const Request& request) {
    KSANA_TRY_VOID(CheckQueryNames(request));
    store::JobQuery query;
    KSANA_TRY(query.limit, LimitOf(request));
    KSANA_TRY(query.filter.enabled, EnabledOf(request));
    query.cursor = request.QueryValue("cursor").value_or("");
    query.filter.text = request.QueryValue("q").value_or("");
    return query;
}

// A value for a query. Letters and digits have no locale here.
std::string Encoded(std::string_view text) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    std::string encoded;
    for (const char c : text) {
        if (kPlain.find(c) != std::string_view::npos) {
            encoded += c;
        } else {
            encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return encoded;
}

// The same request with the cursor of the next page.
std::string NextLink(const Request& request, const std::string& cursor) {
    std::string link = "</jobs?cursor=" + Encoded(cursor);
    for (const char* const name : {"limit", "enabled", "q"}) {
        if (const auto value = request.QueryValue(name)) {
            link += fmt::format("&{}={}", name, Encoded(*value));
        }
    }
    return link + ">; rel=\"next\"";
}

class Handlers {
  public:
    explicit Handlers(const TimerDesk& desk) : desk_(desk) {}

    Result<Response> Create(const Request& request) const {
        KSANA_TRY(Job job, codec::TimerJobFromJson(request.body));
        KSANA_TRY(const Job created, desk_.desk.Create(std::move(job)));
        Response response = Show(created, 201);
        response.headers.emplace_back("Location", "/jobs/" + created.id);
        return response;
    }

    Result<Response> List(const Request& request) const {
        KSANA_TRY(const store::JobQuery query, ListQueryOf(request));
        KSANA_TRY(const store::Page<Job> page, desk_.store.jobs().List(query));
        Response response = JsonResponse(200, codec::TimerJobsToJson(page.items, desk_.defaults));
        if (!page.next.empty()) {
            response.headers.emplace_back("Link", NextLink(request, page.next));
            response.headers.emplace_back("X-Next-Cursor", page.next);
        }
        return response;
    }

    Result<Response> Get(const Request& request) const {
        KSANA_TRY(const Job job, desk_.store.jobs().Get(request.Parameter("id")));
        return Show(job, 200);
    }

    Result<Response> Patch(const Request& request) const {
        KSANA_TRY(const Job job, desk_.desk.Change(request.Parameter("id"), {}, [&](Job& edited) {
            return codec::PatchTimerJob(edited, request.body);
        }));
        return Show(job, 200);
    }

    Result<Response> Delete(const Request& request) const {
        KSANA_TRY_VOID(desk_.desk.Delete(request.Parameter("id"), {}));
        return NoContent();
    }

    // 202: it is stored and will run; how it went is told by the job's last_status.
    Result<Response> RunNow(const Request& request) const {
        KSANA_TRY(std::string parameters, codec::RunParametersFromJson(request.body));
        KSANA_TRY(const model::Run run, desk_.desk.RunNow({.id = request.Parameter("id"),
                                                           .parameters = std::move(parameters),
                                                           .obeys_overlap = false}));
        return JsonResponse(202, fmt::format(R"({{"job_id":{},"run_id":"{}"}})",
                                             codec::TextToJson(run.job_id), run.id.ToString()));
    }

    Result<Response> Pause(const Request& request) const {
        KSANA_TRY(const Job job, desk_.desk.Pause(request.Parameter("id"), ""));
        return Show(job, 200);
    }

    Result<Response> Resume(const Request& request) const {
        KSANA_TRY(const Job job, desk_.desk.Resume(request.Parameter("id")));
        return Show(job, 200);
    }

  private:
    Response Show(const Job& job, int status) const {
        return JsonResponse(status, codec::TimerJobToJson(job, desk_.defaults));
    }

    TimerDesk desk_;
};

}  // namespace

void AddTimerRoutes(http_server::Router& router, const TimerDesk& desk) {
    const auto handlers = std::make_shared<const Handlers>(desk);
    const auto add = [&](Method method, const char* pattern, Permission permission,
                         const char* description, Where where, auto handler) {
        router.Add(Route(method, pattern, permission, description, where,
                         http_server::Handler([handlers, handler](const Request& request) {
                             return ((*handlers).*handler)(request);
                         })));
    };
    const Where read_one = desk.quick_reads ? Where::kInline : Where::kPool;
    add(Method::kPost, "/jobs", Permission::kWrite, "Creates a job", Where::kPool,
        &Handlers::Create);
    add(Method::kGet, "/jobs", Permission::kRead, "Lists jobs", Where::kPool, &Handlers::List);
    add(Method::kGet, "/jobs/{id}", Permission::kRead, "Shows a job", read_one, &Handlers::Get);
    add(Method::kPatch, "/jobs/{id}", Permission::kWrite, "Changes parts of a job", Where::kPool,
        &Handlers::Patch);
    add(Method::kDelete, "/jobs/{id}", Permission::kWrite, "Deletes a job", Where::kPool,
        &Handlers::Delete);
    add(Method::kPost, "/jobs/{id}/run-now", Permission::kOperate,
        "Runs a job at once, beside its schedule", Where::kPool, &Handlers::RunNow);
    add(Method::kPost, "/jobs/{id}/pause", Permission::kOperate, "Keeps a job from firing",
        Where::kPool, &Handlers::Pause);
    add(Method::kPost, "/jobs/{id}/resume", Permission::kOperate, "Lets a job fire again",
        Where::kPool, &Handlers::Resume);
}

}  // namespace ksana::api
