#include "ksana/api/v1/handlers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "ksana/api/edge/entity_tag.hpp"
#include "ksana/api/edge/list_answer.hpp"
#include "ksana/api/edge/object_text.hpp"
#include "ksana/api/edge/query_reader.hpp"
#include "ksana/api/v1/bulk_jobs.hpp"
#include "ksana/api/v1/stored_limit.hpp"
#include "ksana/base/text/names.hpp"
#include "ksana/codec/v1/job_view.hpp"
#include "ksana/codec/v1/limit_codec.hpp"
#include "ksana/engine/limits/limit_source.hpp"

namespace ksana::api {
namespace {

using codec::ObjectSchema;
using codec::Schema;
using http_server::JsonResponse;
using http_server::Permission;
using http_server::Response;

struct Group {
    std::string name;
    std::optional<StoredLimit> stored;
    std::int64_t jobs = 0;
    std::int64_t paused = 0;
    engine::GroupUse use;  // on this node
};

std::string GroupText(const Group& group) {
    ObjectText text;
    text.Put("name", group.name);
    const StoredLimit stored = group.stored.value_or(StoredLimit{});
    if (!stored.limit.description.empty()) text.Put("description", stored.limit.description);
    PutLimit(text, stored.limit);
    text.Put("jobs", group.jobs).Put("paused_jobs", group.paused);
    text.Put("running", static_cast<std::int64_t>(group.use.under_way));
    text.Put("waiting", static_cast<std::int64_t>(group.use.waiting));
    text.Put("version", stored.version);
    if (group.stored) text.Put("updated_at", stored.updated_at);
    return text.Take();
}

std::string TagOf(const Group& group) {
    return DocumentTag(group.stored ? group.stored->version : 0, GroupText(group));
}

// Handlers of groups. The routes share one object; pool threads call it concurrently.
class GroupHandlers {
  public:
    explicit GroupHandlers(const std::shared_ptr<HandlerContext>& context)
        : context_(context), store_(context->services.store) {}

    // Lists by name the groups that jobs name and those that have limits.
    Result<Response> List(const Call& call) const {
        api::QueryReader reader(call.request);
        PageParams wish = ReadPage(reader, false);
        KSANA_TRY_VOID(reader.Finish());
        KSANA_TRY_VOID(OpenCursor(call.request, context_->cursors, wish));
        KSANA_TRY(const auto stored, AllStored());
        const auto list = [&](std::size_t limit,
                              const std::string& after) -> Result<store::Page<Group>> {
            return PageOf(stored, after, limit);
        };
        KSANA_TRY(const ListPage page, FillPage(wish, list, GroupText));
        return ListAnswer(call.request, context_->cursors, page);
    }

    Result<Response> Get(const Call& call) const {
        KSANA_TRY_VOID(api::QueryReader(call.request).Finish());
        KSANA_TRY(const Group group, Find(NameOf(call)));
        return WithTag(call.request, JsonResponse(200, GroupText(group)), TagOf(group));
    }

    Result<Response> Put(const Call& call) const {
        const std::string& name = NameOf(call);
        if (!IsIdentifier(name)) {
            return Error(std::vector<Problem>{{"/name", fmt::format("is {}", kIdentifierRule)}});
        }
        KSANA_TRY(const model::Limit limit, codec::LimitFromJson(call.request.body));
        KSANA_TRY(const auto change, PutStoredLimit(store_, call.request, TargetOf(call), limit));
        if (!change) return LimitChanged412(call.request);
        KSANA_TRY(const Group group, Look(name, change->stored));
        Response response = JsonResponse(change->is_new ? 201 : 200, GroupText(group));
        response.headers.emplace_back("ETag", TagOf(group));
        if (change->is_new) {
            response.headers.emplace_back("Location", "/api/v1/groups/" + name);
        }
        return response;
    }

    // Deletes the limits. The group exists as long as jobs name it.
    Result<Response> Delete(const Call& call) const {
        KSANA_TRY(const bool deleted, DeleteStoredLimit(store_, call.request, TargetOf(call)));
        return deleted ? http_server::NoContent() : LimitChanged412(call.request);
    }

    Result<Response> Pause(const Call& call) const {
        KSANA_TRY(const codec::PauseRequest wish, codec::PauseRequestFromJson(call.request.body));
        return SetAll(call, false, wish.reason);
    }

    Result<Response> Resume(const Call& call) const {
        KSANA_TRY_VOID(codec::CheckEmptyBody(call.request.body));
        return SetAll(call, true, "");
    }

  private:
    using Stored = std::map<std::string, StoredLimit>;

    static const std::string& NameOf(const Call& call) { return call.request.Parameter("name"); }
    static LimitTarget TargetOf(const Call& call) {
        return {model::LimitKind::kGroup, NameOf(call)};
    }

    Result<Response> SetAll(const Call& call, bool enabled, const std::string& reason) const {
        KSANA_TRY(const Group group, Find(NameOf(call)));
        codec::BulkRequest wish;
        wish.group = group.name;
        wish.reason = reason;
        KSANA_TRY(std::string outcome, SetEnabled(context_->services.jobs, store_, wish, enabled));
        return JsonResponse(200, std::move(outcome));
    }

    Result<Stored> AllStored() const {
        Stored all;
        const std::string prefix(engine::kGroupSettings);
        store::ListParams params{.prefix = prefix, .limit = store::kMaxPageSize, .cursor = {}};
        do {
            KSANA_TRY(const store::Page<model::Document> page, store_.settings().List(params));
            for (const model::Document& document : page.items) {
                auto stored = StoredLimitOf(document);
                if (stored) all.emplace(document.key.substr(prefix.size()), *std::move(stored));
            }
            params.cursor = page.next;
        } while (!params.cursor.empty() && all.size() < engine::kMaxLimits);
        return all;
    }

    // Returns a page of the groups that jobs name and those that have limits.
    Result<store::Page<Group>> PageOf(const Stored& stored, const std::string& after,
                                      std::size_t limit) const {
        KSANA_TRY(const std::vector<store::GroupSize> sizes,
                  store_.jobs().Groups({.name = "", .after = after, .limit = limit}));
        const bool more = sizes.size() == limit;  // groups that jobs name
        std::map<std::string, Group> groups;
        for (const store::GroupSize& size : sizes) groups[size.name] = GroupOf(size);
        for (auto one = stored.upper_bound(after); one != stored.end(); ++one) {
            // The store may have further groups between the last one it returned and this one.
            if (more && one->first > sizes.back().name) break;
            Group& group =
                groups.try_emplace(one->first, GroupOf({one->first, 0, 0})).first->second;
            group.stored = one->second;
        }
        const bool cut = groups.size() > limit;
        store::Page<Group> page;
        for (auto& [name, group] : groups) {
            if (page.items.size() < limit) page.items.push_back(std::move(group));
        }
        if (more || cut) page.next = page.items.back().name;
        return page;
    }

    Result<Group> Find(const std::string& name) const {
        KSANA_TRY(auto stored,
                  FindLimit(store_, engine::LimitSettingOf(model::LimitKind::kGroup, name)));
        KSANA_TRY(Group group, Look(name, std::move(stored)));
        if (group.jobs > 0 || group.stored) return group;
        return Error(Code::kNotFound, fmt::format("no job is in a group \"{}\", and it has no "
                                                  "limits",
                                                  name));
    }

    Result<Group> Look(const std::string& name, std::optional<StoredLimit> stored) const {
        KSANA_TRY(const std::vector<store::GroupSize> sizes,
                  store_.jobs().Groups({.name = name, .after = "", .limit = 1}));
        Group group = GroupOf(sizes.empty() ? store::GroupSize{name, 0, 0} : sizes.front());
        group.stored = std::move(stored);
        return group;
    }

    Group GroupOf(const store::GroupSize& size) const {
        Group group{.name = size.name,
                    .stored = std::nullopt,
                    .jobs = size.jobs,
                    .paused = size.paused,
                    .use = {}};
        const auto& of_group = context_->services.limits.of_group;
        if (of_group) group.use = of_group(size.name);
        return group;
    }

    std::shared_ptr<HandlerContext> context_;
    store::Store& store_;
};

constexpr Parameter kGroupName{
    .name = "name", .means = "Name of a group.", .place = Place::kPath, .example = "billing"};

Schema MakeGroup() {
    return ObjectSchema("Jobs that are limited, paused and resumed together.")
        .Need("name", Schema::Text().Means("As jobs name it."))
        .May("description", Schema::Text().Means("What it is for."))
        .NeedOf(LimitMembers(), {"max_concurrency", "rate"})
        .Need("jobs", Schema::Count().Means("Jobs of the group."))
        .Need("paused_jobs", Schema::Count().Means("Of them: paused."))
        .Need("running", Schema::Count().Means("Attempts under way on this node."))
        .Need("waiting", Schema::Count().Means("Runs that wait in this node's memory."))
        .Need("version", Schema::Count().Means("Of its limits; 0: it has none."))
        .May("updated_at", Schema::Time().Means("When its limits were last set."));
}

constexpr codec::NamedSchema kGroup{"Group", &MakeGroup};
constexpr codec::NamedSchema kGroupPage{"GroupPage", &MakePage<kGroup>};

constexpr RouteInfo kListGroups{
    .method = HttpMethod::kGet,
    .path = "/groups",
    .permission = Permission::kRead,
    .id = "listGroups",
    .tag = Tag::kGroups,
    .summary = "Lists groups",
    .more = "By name: those that jobs are in, and those that have limits.",
    .paging = Paging::kPages,
    .answers = {{{200, "A page.", &kGroupPage}}}};

constexpr RouteInfo kGetGroup{.method = HttpMethod::kGet,
                              .path = "/groups/{name}",
                              .permission = Permission::kRead,
                              .id = "getGroup",
                              .tag = Tag::kGroups,
                              .summary = "Shows a group",
                              .subject = &kGroupName,
                              .answers = {{{200, "The group.", &kGroup, kETag}}}};

constexpr RouteInfo kPutGroup{
    .method = HttpMethod::kPut,
    .path = "/groups/{name}",
    .permission = Permission::kWrite,
    .id = "putGroup",
    .tag = Tag::kGroups,
    .summary = "Sets the limits of a group",
    .more =
        "The whole of them: what is not in it is not limited. They hold on each node on its own.",
    .subject = &kGroupName,
    .body = &codec::kLimitSchema,
    .answers = {{{200, "Replaced.", &kGroup, kETag}, {201, "Made.", &kGroup, kETag | kLocation}}},
    .makes_subject = true};

constexpr RouteInfo kDeleteGroup{.method = HttpMethod::kDelete,
                                 .path = "/groups/{name}",
                                 .permission = Permission::kWrite,
                                 .id = "deleteGroup",
                                 .tag = Tag::kGroups,
                                 .summary = "Removes the limits of a group",
                                 .more = "The group is there as long as jobs name it.",
                                 .subject = &kGroupName,
                                 .answers = {{{204, "Gone."}}}};

constexpr RouteInfo kPauseGroup{
    .method = HttpMethod::kPost,
    .path = "/groups/{name}/pause",
    .permission = Permission::kOperate,
    .id = "pauseGroup",
    .tag = Tag::kGroups,
    .summary = "Pauses the jobs of a group",
    .more =
        "Each job on its own, about a thousand in one request; the answer says when there are "
        "more.",
    .subject = &kGroupName,
    .body = &codec::kPauseRequestSchema,
    .body_need = BodyNeed::kOptional,
    .answers = {{{200, "Which were changed, and which could not be.", &kBulkOutcomeSchema}}}};

constexpr RouteInfo kResumeGroup{
    .method = HttpMethod::kPost,
    .path = "/groups/{name}/resume",
    .permission = Permission::kOperate,
    .id = "resumeGroup",
    .tag = Tag::kGroups,
    .summary = "Resumes the jobs of a group",
    .more =
        "Each job on its own, about a thousand in one request; the answer says when there are "
        "more.",
    .subject = &kGroupName,
    .body = &codec::kNothingSchema,
    .body_need = BodyNeed::kOptional,
    .answers = {{{200, "Which were changed, and which could not be.", &kBulkOutcomeSchema}}}};

}  // namespace

void AddGroupRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context) {
    const auto handlers = std::make_shared<const GroupHandlers>(context);
    const auto add = [&](const RouteInfo& info, auto handler) {
        AddRoute(router, context, info,
                 [handlers, handler](const Call& call) { return ((*handlers).*handler)(call); });
    };
    add(kListGroups, &GroupHandlers::List);
    add(kGetGroup, &GroupHandlers::Get);
    add(kPutGroup, &GroupHandlers::Put);
    add(kDeleteGroup, &GroupHandlers::Delete);
    add(kPauseGroup, &GroupHandlers::Pause);
    add(kResumeGroup, &GroupHandlers::Resume);
}

}  // namespace ksana::api
