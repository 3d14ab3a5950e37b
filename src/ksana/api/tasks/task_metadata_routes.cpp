#include "ksana/api/tasks/task_routes.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "ksana/api/edge/guard.hpp"
#include "ksana/api/edge/member_routes.hpp"
#include "ksana/api/tasks/task_lists.hpp"
#include "ksana/codec/dialects/task_metadata.hpp"

namespace ksana::api {
namespace {

using engine::StoredType;
using http_server::JsonResponse;
using http_server::Permission;
using http_server::Request;
using http_server::Response;
using model::RunType;

// Handlers of /task-metadata. The routes share one object; pool threads call it concurrently.
class TaskMetadataHandlers {
  public:
    explicit TaskMetadataHandlers(const TaskServices& services) : services_(services) {}

    Result<Response> Create(const Request& request) const {
        KSANA_TRY(const RunType given, codec::TaskMetadataFromJson(request.body, nullptr));
        const auto make = [&](const std::optional<StoredType>& before) -> Result<RunType> {
            if (!before) return given;
            return Error(Code::kAlreadyExists,
                         fmt::format("there is a type \"{}\" already", given.code));
        };
        KSANA_TRY(const StoredType stored,
                  services_.types.Change(given.code, make, ActorOf(request)));
        Response response = Show(stored.value, 201);
        response.headers.emplace_back("Location", "/task-metadata/" + stored.value.code);
        return response;
    }

    Result<Response> List(const Request& request) const {
        QueryReader reader(request);
        store::ListParams params{.prefix = {}, .limit = 0, .cursor = {}};
        ReadPlace(reader, params);
        KSANA_TRY_VOID(reader.Finish());
        KSANA_TRY(const store::Page<RunType> page, services_.store.types().List(params));
        std::vector<std::string> items;
        for (const RunType& type : page.items) items.push_back(TextOf(type));
        return WithNextPage(request, JsonResponse(200, fmt::format("[{}]", fmt::join(items, ","))),
                            page.next);
    }

    Result<Response> Get(const Request& request) const {
        KSANA_TRY(const StoredType stored, services_.types.Get(request.Parameter("id")));
        return Show(stored.value, 200);
    }

    Result<Response> Put(const Request& request) const {
        const std::string& code = request.Parameter("id");
        const auto replace = [&](const std::optional<StoredType>& before) -> Result<RunType> {
            if (!before) {
                return Error(Code::kNotFound, fmt::format("there is no type \"{}\"", code));
            }
            KSANA_TRY(RunType after, codec::TaskMetadataFromJson(request.body, &before->value));
            if (after.code == code) return after;
            return Error(
                std::vector<Problem>{{"/code", "is not that of the path", "immutable", {}}});
        };
        KSANA_TRY(const StoredType stored, services_.types.Change(code, replace, ActorOf(request)));
        return Show(stored.value, 200);
    }

    Result<Response> Delete(const Request& request) const {
        const auto any = [](const StoredType&) -> Result<void> { return {}; };
        KSANA_TRY_VOID(services_.types.Delete(request.Parameter("id"), any, ActorOf(request)));
        return http_server::NoContent();
    }

  private:
    std::string TextOf(const RunType& type) const {
        return codec::TaskMetadataToJson(type, services_.defaults);
    }
    Response Show(const RunType& type, int status) const {
        return JsonResponse(status, TextOf(type));
    }

    TaskServices services_;
};

}  // namespace

void AddTaskMetadataRoutes(http_server::Router& router, const TaskServices& services) {
    const auto handlers = std::make_shared<const TaskMetadataHandlers>(services);
    const MemberRoutes add(router, handlers);
    add(HttpMethod::kPost, "/task-metadata", Permission::kWrite, "Makes a type of tasks",
        &TaskMetadataHandlers::Create);
    add(HttpMethod::kGet, "/task-metadata", Permission::kRead, "Lists types of tasks",
        &TaskMetadataHandlers::List);
    add(HttpMethod::kGet, "/task-metadata/{id}", Permission::kRead, "Shows a type of tasks",
        &TaskMetadataHandlers::Get);
    add(HttpMethod::kPut, "/task-metadata/{id}", Permission::kWrite, "Replaces a type of tasks",
        &TaskMetadataHandlers::Put);
    add(HttpMethod::kDelete, "/task-metadata/{id}", Permission::kWrite, "Deletes a type of tasks",
        &TaskMetadataHandlers::Delete);
}

}  // namespace ksana::api
