#include "ksana/api/v1/handlers.hpp"

#include <fmt/core.h>

#include "ksana/api/edge/entity_tag.hpp"
#include "ksana/api/edge/guard.hpp"
#include "ksana/api/edge/list_answer.hpp"
#include "ksana/api/edge/query_reader.hpp"
#include "ksana/codec/v1/type_view.hpp"
#include "ksana/engine/services/type_service.hpp"

namespace ksana::api {
namespace {

using engine::StoredType;
using http_server::JsonResponse;
using http_server::Permission;
using http_server::Request;
using http_server::Response;
using model::RunType;

std::string TagOf(const StoredType& stored) {
    return DocumentTag(stored.version, codec::RunTypeViewToJson(stored.value));
}

Response Show(const StoredType& stored, int status) {
    Response response = JsonResponse(status, codec::RunTypeViewToJson(stored.value));
    response.headers.emplace_back("ETag", DocumentTag(stored.version, response.body));
    if (status == 201) {
        response.headers.emplace_back("Location", "/api/v1/types/" + stored.value.code);
    }
    return response;
}

Response TypeChanged412(const Request& request) {
    return Refuse(request, {.status = 412,
                            .code = "precondition_failed",
                            .detail = "the type is not what the condition asks for: read it "
                                      "again"});
}

// Returns whether If-Match and If-None-Match allow the change. `stored` is null if there is no
// type.
bool MayChange(const Request& request, const StoredType* stored) {
    if (stored == nullptr) return !request.headers.Find("If-Match");
    if (request.headers.Find("If-None-Match") == "*") return false;
    return IfMatch(request, stored->version, TagOf(*stored)) != MatchResult::kDiffers;
}

Error NoType(const std::string& code) {
    return {Code::kNotFound, fmt::format("there is no type \"{}\"", code)};
}

// Handlers of types. The routes share one object; pool threads call it concurrently.
class TypeHandlers {
  public:
    explicit TypeHandlers(const std::shared_ptr<HandlerContext>& context)
        : context_(context), types_(context->services.types), store_(context->services.store) {}

    Result<Response> List(const Call& call) {
        api::QueryReader reader(call.request);
        store::ListParams params{.prefix = reader.Text("prefix"), .limit = kListSize, .cursor = {}};
        PageParams wish = ReadPage(reader, false);
        KSANA_TRY_VOID(reader.Finish());
        KSANA_TRY_VOID(OpenCursor(call.request, context_->cursors, wish));
        const auto list = [&](std::size_t limit, const std::string& cursor) {
            params.limit = limit;
            params.cursor = cursor;
            return store_.types().List(params);
        };
        KSANA_TRY(const ListPage page, FillPage(wish, list, codec::RunTypeViewToJson));
        return ListAnswer(call.request, context_->cursors, page);
    }

    Result<Response> Create(const Call& call) {
        KSANA_TRY(const RunType given, codec::RunTypeFromView(call.request.body, nullptr));
        const auto make = [&](const std::optional<StoredType>& before) -> Result<RunType> {
            if (!before) return given;
            return Error(Code::kAlreadyExists,
                         fmt::format("there is a type \"{}\" already", given.code));
        };
        KSANA_TRY(const StoredType stored, types_.Change(given.code, make, ByOf(call)));
        return Show(stored, 201);
    }

    Result<Response> Get(const Call& call) {
        KSANA_TRY_VOID(api::QueryReader(call.request).Finish());
        KSANA_TRY(const StoredType stored, types_.Get(CodeOf(call)));
        return WithTag(call.request, JsonResponse(200, codec::RunTypeViewToJson(stored.value)),
                       TagOf(stored));
    }

    Result<Response> Put(const Call& call) {
        return Edit(call, [&](const RunType* before) -> Result<RunType> {
            KSANA_TRY(RunType type, codec::RunTypeFromView(call.request.body, before));
            if (type.code.empty()) type.code = CodeOf(call);
            return type;
        });
    }

    Result<Response> Patch(const Call& call) {
        return Edit(call, [&](const RunType* before) -> Result<RunType> {
            if (before == nullptr) return NoType(CodeOf(call));
            return codec::PatchedRunType(*before, call.request.body);
        });
    }

    Result<Response> Delete(const Call& call) {
        bool refused = false;
        const auto check = [&](const StoredType& stored) -> Result<void> {
            refused = !MayChange(call.request, &stored);
            if (refused) return Error(Code::kConflict, "refused");
            return {};
        };
        const auto deleted = types_.Delete(CodeOf(call), check, ByOf(call));
        if (refused) return TypeChanged412(call.request);
        if (!deleted) return deleted.error();
        return http_server::NoContent();
    }

  private:
    static const std::string& CodeOf(const Call& call) { return call.request.Parameter("code"); }
    static engine::Actor ByOf(const Call& call) { return api::ActorOf(call.request); }

    // Checks the condition on the type that is read for the change, so that no other change comes
    // in between.
    template <class F>
    Result<Response> Edit(const Call& call, const F& edit) {
        bool is_new = false;
        bool refused = false;
        const auto change = [&](const std::optional<StoredType>& before) -> Result<RunType> {
            is_new = !before;
            refused = !MayChange(call.request, before ? &*before : nullptr);
            if (refused) return Error(Code::kInvalidArgument, "refused");
            KSANA_TRY(RunType after, edit(before ? &before->value : nullptr));
            if (after.code != CodeOf(call)) {
                return Error(
                    std::vector<Problem>{{"/code", "is not that of the path", "immutable", {}}});
            }
            return after;
        };
        const auto stored = types_.Change(CodeOf(call), change, ByOf(call));
        if (refused) return TypeChanged412(call.request);
        if (!stored) return stored.error();
        return Show(*stored, is_new ? 201 : 200);
    }

    const std::shared_ptr<HandlerContext> context_;
    engine::TypeService& types_;
    store::Store& store_;
};

constexpr Parameter kTypeOfRuns{
    .name = "code", .means = "Code of a type.", .place = Place::kPath, .example = "transcode"};
constexpr Parameter kListTypesParameters[] = {{"prefix", "Whose codes begin so."}};
constexpr codec::NamedSchema kTypePage{"TypePage", &MakePage<codec::kTypeSchema>};

constexpr RouteInfo kListTypes{.method = HttpMethod::kGet,
                               .path = "/types",
                               .permission = Permission::kRead,
                               .id = "listTypes",
                               .tag = Tag::kTypes,
                               .summary = "Lists types of runs",
                               .parameters = kListTypesParameters,
                               .paging = Paging::kPages,
                               .answers = {{{200, "A page, by code.", &kTypePage}}}};

constexpr RouteInfo kCreateType{
    .method = HttpMethod::kPost,
    .path = "/types",
    .permission = Permission::kWrite,
    .id = "createType",
    .tag = Tag::kTypes,
    .summary = "Makes a type of runs",
    .body = &codec::kTypeDefinitionSchema,
    .answers = {{{201, "Made.", &codec::kTypeSchema, kETag | kLocation}}}};

constexpr RouteInfo kGetType{.method = HttpMethod::kGet,
                             .path = "/types/{code}",
                             .permission = Permission::kRead,
                             .id = "getType",
                             .tag = Tag::kTypes,
                             .summary = "Shows a type",
                             .subject = &kTypeOfRuns,
                             .answers = {{{200, "The type.", &codec::kTypeSchema, kETag}}}};

constexpr RouteInfo kPutType{.method = HttpMethod::kPut,
                             .path = "/types/{code}",
                             .permission = Permission::kWrite,
                             .id = "putType",
                             .tag = Tag::kTypes,
                             .summary = "Makes or replaces a type",
                             .more = "Runs that are there keep the policy they were made with.",
                             .subject = &kTypeOfRuns,
                             .body = &codec::kTypeDefinitionSchema,
                             .answers = {{{200, "Replaced.", &codec::kTypeSchema, kETag},
                                          {201, "Made.", &codec::kTypeSchema, kETag | kLocation}}},
                             .makes_subject = true};

constexpr RouteInfo kPatchType{
    .method = HttpMethod::kPatch,
    .path = "/types/{code}",
    .permission = Permission::kWrite,
    .id = "patchType",
    .tag = Tag::kTypes,
    .summary = "Changes parts of a type",
    .more = "A merge patch (RFC 7396): what is not named stays, null takes a member away.",
    .subject = &kTypeOfRuns,
    .body = &codec::kTypePatchSchema,
    .body_need = BodyNeed::kMergePatch,
    .answers = {{{200, "Changed.", &codec::kTypeSchema, kETag}}}};

constexpr RouteInfo kDeleteType{.method = HttpMethod::kDelete,
                                .path = "/types/{code}",
                                .permission = Permission::kWrite,
                                .id = "deleteType",
                                .tag = Tag::kTypes,
                                .summary = "Deletes a type",
                                .more = "Runs of it go on with the policy they were made with.",
                                .subject = &kTypeOfRuns,
                                .answers = {{{204, "Gone."}}}};

}  // namespace

void AddTypeRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context) {
    const auto handlers = std::make_shared<TypeHandlers>(context);
    const auto add = [&](const RouteInfo& info, auto handler) {
        AddRoute(router, context, info,
                 [handlers, handler](const Call& call) { return ((*handlers).*handler)(call); });
    };
    add(kListTypes, &TypeHandlers::List);
    add(kCreateType, &TypeHandlers::Create);
    add(kGetType, &TypeHandlers::Get);
    add(kPutType, &TypeHandlers::Put);
    add(kPatchType, &TypeHandlers::Patch);
    add(kDeleteType, &TypeHandlers::Delete);
}

}  // namespace ksana::api
