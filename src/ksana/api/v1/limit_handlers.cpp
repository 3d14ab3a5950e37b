#include "ksana/api/v1/handlers.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "ksana/api/edge/entity_tag.hpp"
#include "ksana/api/edge/object_text.hpp"
#include "ksana/api/edge/query_reader.hpp"
#include "ksana/api/v1/stored_limit.hpp"
#include "ksana/base/text/json_output.hpp"
#include "ksana/base/text/names.hpp"
#include "ksana/codec/v1/job_view.hpp"
#include "ksana/codec/v1/limit_codec.hpp"
#include "ksana/engine/limits/limit_shares.hpp"
#include "ksana/engine/limits/limit_source.hpp"
#include "ksana/model/http_url.hpp"

namespace ksana::api {
namespace {

using codec::ObjectSchema;
using codec::Schema;
using engine::LimitUse;
using http_server::JsonResponse;
using http_server::Permission;
using http_server::Response;
using model::LimitKind;

std::string BreakerText(const LimitUse& use, TimePoint now) {
    if (use.kind != LimitKind::kHost) return "null";
    const LimitUse::BreakerUse breaker = use.breaker.value_or(LimitUse::BreakerUse{});
    ObjectText text;
    text.Put("state", model::NameOf(breaker.state));
    text.Put("failures", static_cast<std::int64_t>(breaker.failures));
    if (breaker.retry_in) {
        text.Put("retry_at", now + *breaker.retry_in);
    } else {
        text.Raw("retry_at", "null");
    }
    return text.Take();
}

using SharesByKey = std::map<std::string, engine::StoredShares>;

// What all nodes together do under a limit, as the others told the store a few seconds ago.
struct ClusterUse {
    std::int64_t nodes = 0;
    std::int64_t in_use = 0;
    std::int64_t waiting = 0;
};

ClusterUse ClusterUseOf(const LimitUse& use, const SharesByKey& shares, TimePoint now) {
    ClusterUse all{.in_use = static_cast<std::int64_t>(use.in_use),
                   .waiting = static_cast<std::int64_t>(use.waiting)};
    const auto found = shares.find(engine::LimitKey(use.kind, use.name));
    if (found == shares.end()) return all;
    for (const model::NodeShare& node : found->second.book.nodes) {
        if (node.until <= now) continue;
        ++all.nodes;
        if (node.owner == use.share->owner) continue;
        all.in_use += node.in_use;
        all.waiting += node.waiting;
    }
    return all;
}

std::string ClusterText(const LimitUse& use, const SharesByKey& shares, TimePoint now) {
    if (!use.share) return "null";
    const ClusterUse all = ClusterUseOf(use, shares, now);
    ObjectText share;
    if (use.limit.max_concurrency) {
        share.Put("max_concurrency", use.share->places);
    } else {
        share.Raw("max_concurrency", "null");
    }
    if (use.limit.rate) {
        share.Put("count", use.share->starts);
    } else {
        share.Raw("count", "null");
    }
    return ObjectText()
        .Put("nodes", all.nodes)
        .Put("in_use", all.in_use)
        .Put("waiting", all.waiting)
        .Raw("share", share.Take())
        .Take();
}

void PutUse(ObjectText& text, const LimitUse& use, const SharesByKey& shares, TimePoint now) {
    text.Put("kind", model::NameOf(use.kind)).Put("name", use.name);
    PutLimit(text, use.limit);
    text.Put("in_use", static_cast<std::int64_t>(use.in_use));
    text.Put("waiting", static_cast<std::int64_t>(use.waiting));
    text.Raw("breaker", BreakerText(use, now));
    text.Raw("cluster", ClusterText(use, shares, now));
}

// Returns whether the entry is left over from a limit that was just deleted.
bool IsEmptyUse(const LimitUse& use) {
    return use.kind != LimitKind::kNode && !use.limit.max_concurrency && !use.limit.rate &&
           use.in_use == 0 && use.waiting == 0 && !use.breaker;
}

Result<LimitTarget> TargetOf(const Call& call, LimitKind kind) {
    if (kind == LimitKind::kType) {
        const std::string& code = call.request.Parameter("code");
        if (IsIdentifier(code)) return LimitTarget{kind, code};
        return Error(std::vector<Problem>{{"/code", "is no code of a type"}});
    }
    const std::string& host = call.request.Parameter("host");
    if (model::IsHost(host)) return LimitTarget{kind, LowerText(host)};
    return Error(std::vector<Problem>{
        {"/host", "is no host: example.com, 10.0.0.1:8080 or [::1], with a port or without"}});
}

// Handlers of limits. The routes share one object; pool threads call it concurrently.
class LimitHandlers {
  public:
    explicit LimitHandlers(const std::shared_ptr<HandlerContext>& context)
        : context_(context), store_(context->services.store) {}

    // Lists the stored limits with their use on this node, which may not have read the latest
    // change yet.
    Result<Response> List(const Call& call) const {
        KSANA_TRY_VOID(api::QueryReader(call.request).Finish());
        KSANA_TRY(const TimePoint now, store_.Now());
        KSANA_TRY(const auto stored, engine::ReadLimits(store_));
        std::map<std::string, LimitUse> uses = UsesNow();
        for (auto& [key, use] : uses) {
            if (use.kind != LimitKind::kNode) use.limit = {};
        }
        for (const auto& [key, limit] : stored) {
            LimitUse& use = uses[key];
            use.kind = engine::KindOfLimitKey(key);
            use.name = engine::NameOfLimitKey(key);
            use.limit = limit;
        }
        KSANA_TRY(const SharesByKey shares, SharesOf(uses));
        std::vector<std::string> items;
        for (const auto& [key, use] : uses) {
            if (IsEmptyUse(use)) continue;
            ObjectText text;
            PutUse(text, use, shares, now);
            items.push_back(text.Take());
        }
        return JsonResponse(200, fmt::format("{{\"items\":[{}]}}", fmt::join(items, ",")));
    }

    Result<Response> PutType(const Call& call) const { return Put(call, LimitKind::kType); }
    Result<Response> PutHost(const Call& call) const { return Put(call, LimitKind::kHost); }
    Result<Response> DeleteType(const Call& call) const { return Delete(call, LimitKind::kType); }
    Result<Response> DeleteHost(const Call& call) const { return Delete(call, LimitKind::kHost); }

    Result<Response> ResetBreaker(const Call& call) const {
        KSANA_TRY_VOID(codec::CheckEmptyBody(call.request.body));
        KSANA_TRY(const LimitTarget target, TargetOf(call, LimitKind::kHost));
        std::vector<std::string> open;
        for (const auto& [key, use] : UsesNow()) {
            if (!IsOpenBreaker(use, target.name)) continue;
            JsonOutput name;
            name.Text(use.name);
            open.push_back(name.Take());
        }
        KSANA_TRY_VOID(ResetBreakersOf(store_, call.request, target));
        ObjectText text;
        text.Put("host", target.name).Raw("open", fmt::format("[{}]", fmt::join(open, ",")));
        return JsonResponse(202, text.Take());
    }

  private:
    static bool IsOpenBreaker(const LimitUse& use, std::string_view host) {
        const std::string_view name = use.name;
        const std::string_view authority = name.substr(0, name.find('/'));
        return use.breaker && use.breaker->state != engine::BreakerState::kClosed &&
               (authority == host || authority.substr(0, authority.rfind(':')) == host);
    }

    std::map<std::string, LimitUse> UsesNow() const {
        std::map<std::string, LimitUse> uses;
        const auto& all = context_->services.limits.all;
        if (!all) return uses;
        for (LimitUse& use : all()) {
            std::string key = engine::LimitKey(use.kind, use.name);
            uses.emplace(std::move(key), std::move(use));
        }
        return uses;
    }

    // Reads nothing if this server shares no limit.
    Result<SharesByKey> SharesOf(const std::map<std::string, LimitUse>& uses) const {
        const bool any =
            std::ranges::any_of(uses, [](const auto& use) { return use.second.share.has_value(); });
        if (!any) return SharesByKey();
        return engine::ReadShares(store_);
    }

    Result<Response> Put(const Call& call, LimitKind kind) const {
        KSANA_TRY(const LimitTarget target, TargetOf(call, kind));
        KSANA_TRY(const model::Limit limit, codec::LimitFromJson(call.request.body));
        if (!limit.max_concurrency && !limit.rate) {
            return Error(std::vector<Problem>{
                {"", "names no limit: max_concurrency, rate or both", "missing", {}}});
        }
        KSANA_TRY(const auto change, PutStoredLimit(store_, call.request, target, limit));
        if (!change) return LimitChanged412(call.request);
        KSANA_TRY(const TimePoint now, store_.Now());
        std::map<std::string, LimitUse> uses = UsesNow();
        KSANA_TRY(const SharesByKey shares, SharesOf(uses));
        LimitUse use = uses[engine::LimitKey(kind, target.name)];
        use.kind = kind;
        use.name = target.name;
        use.limit = change->stored.limit;
        ObjectText text;
        PutUse(text, use, shares, now);
        text.Put("version", change->stored.version);
        text.Put("updated_at", change->stored.updated_at);
        Response response = JsonResponse(change->is_new ? 201 : 200, text.Take());
        response.headers.emplace_back("ETag", DocumentTag(change->stored.version, response.body));
        return response;
    }

    Result<Response> Delete(const Call& call, LimitKind kind) const {
        KSANA_TRY(const LimitTarget target, TargetOf(call, kind));
        KSANA_TRY(const bool deleted, DeleteStoredLimit(store_, call.request, target));
        return deleted ? http_server::NoContent() : LimitChanged412(call.request);
    }

    std::shared_ptr<HandlerContext> context_;
    store::Store& store_;
};

constexpr Parameter kTypeCode{
    .name = "code", .means = "Code of a type of runs.", .place = Place::kPath, .example = "mail"};
constexpr Parameter kHost{
    .name = "host",
    .means = "A host as URLs have it; with a port it counts for that port only.",
    .place = Place::kPath,
    .example = "api.example.com"};

Schema MakeBreaker() {
    return ObjectSchema(
               "What this node knows about a host, or a path of it. open: it is down, and runs "
               "that call it wait; half_open: one call sees whether it is back.")
        .Need("state", Schema::OneOf({"closed", "open", "half_open"}).Means("Whether calls go."))
        .Need("failures", Schema::Count().Means("In a row."))
        .Need("retry_at",
              Schema::Time().OrNull().Means("When the next call goes out, while it is open."));
}

constexpr codec::NamedSchema kBreaker{"Breaker", &MakeBreaker};

Schema MakeShare() {
    return ObjectSchema("What this node may use of a limit at the moment.")
        .Need("max_concurrency",
              Schema::Count().OrNull().Means("Attempts at once. null: it is not limited."))
        .Need("count",
              Schema::Count().OrNull().Means("Of the starts of the rate. null: there is none."));
}

constexpr codec::NamedSchema kShare{"LimitShare", &MakeShare};

Schema MakeClusterUse() {
    return ObjectSchema(
               "What all nodes of the store do under a limit that they share. Other nodes tell "
               "their numbers every few seconds.")
        .Need("nodes", Schema::Count().Means("Nodes that use it now or lately."))
        .Need("in_use", Schema::Count().Means("Attempts under way on all nodes."))
        .Need("waiting", Schema::Count().Means("Runs that wait in the memory of all nodes."))
        .Need("share", Schema::Ref(kShare).Means("The part of this node."));
}

constexpr codec::NamedSchema kClusterUse{"LimitClusterUse", &MakeClusterUse};

ObjectSchema UseMembers(std::string_view means) {
    return ObjectSchema(means)
        .Need("kind", Schema::Name<LimitKind>().Means("What is limited."))
        .Need("name", Schema::Text().Means("Empty for the node's own."))
        .NeedOf(LimitMembers(), {"max_concurrency", "rate"})
        .Need("in_use", Schema::Count().Means("Attempts under way on this node that count for it."))
        .Need("waiting", Schema::Count().Means("Runs that wait for it in this node's memory; more "
                                               "may have been given back to the store."))
        .Need("breaker", Schema::Ref(kBreaker).OrNull().Means("null: it is for no destination."))
        .Need("cluster", Schema::Ref(kClusterUse)
                             .OrNull()
                             .Means("null: the limit holds on this node alone, because no other "
                                    "server uses the store or it is the node's own."));
}

Schema MakeLimitUse() { return UseMembers("A limit with what this node does now."); }

Schema MakeStoredLimit() {
    return UseMembers("A limit as it was stored, with what this node does now.")
        .Need("version", Schema::Count().Means("Grows with every change."))
        .Need("updated_at", Schema::Time().Means("When it was changed."));
}

constexpr codec::NamedSchema kLimitUse{"LimitUse", &MakeLimitUse};

Schema MakeLimitList() {
    return ObjectSchema("All limits.")
        .Need("items", Schema::ListOf(Schema::Ref(kLimitUse)).Means("By kind and name."));
}

constexpr codec::NamedSchema kStoredLimit{"StoredLimit", &MakeStoredLimit};
constexpr codec::NamedSchema kLimitList{"LimitList", &MakeLimitList};

Schema MakeBreakerReset() {
    return ObjectSchema("Whose breakers all nodes are told to close.")
        .Need("host", Schema::Text().Means("As it was asked for."))
        .Need("open", Schema::ListOf(Schema::Text())
                          .Means("Hosts and paths whose breakers were not closed on the node that "
                                 "answers."));
}

constexpr codec::NamedSchema kBreakerReset{"BreakerReset", &MakeBreakerReset};

constexpr RouteInfo kResetBreaker{
    .method = HttpMethod::kPost,
    .path = "/limits/host/{host}/reset-breaker",
    .permission = Permission::kOperate,
    .id = "resetBreaker",
    .tag = Tag::kLimits,
    .summary = "Closes the breakers of a host and of its paths",
    .more =
        "On all nodes, within moments: new calls go out at once, and runs that were sent away are "
        "tried again within breaker_max.",
    .subject = &kHost,
    .answers = {{{202, "They are told.", &kBreakerReset}}}};

constexpr RouteInfo kListLimits{
    .method = HttpMethod::kGet,
    .path = "/limits",
    .permission = Permission::kRead,
    .id = "listLimits",
    .tag = Tag::kLimits,
    .summary = "Lists limits with their use",
    .more =
        "What is stored, with what this node does now; its own limits come from its configuration.",
    .answers = {
        {{200, "All of them, and the destinations that had failures lately.", &kLimitList}}}};

constexpr RouteInfo kPutTypeLimit{
    .method = HttpMethod::kPut,
    .path = "/limits/type/{code}",
    .permission = Permission::kWrite,
    .id = "putTypeLimit",
    .tag = Tag::kLimits,
    .summary = "Limits the runs of a type",
    .more = "Over all servers of the store together.",
    .subject = &kTypeCode,
    .body = &codec::kLimitSchema,
    .answers = {{{200, "Replaced.", &kStoredLimit, kETag}, {201, "Made.", &kStoredLimit, kETag}}},
    .makes_subject = true};

constexpr RouteInfo kDeleteTypeLimit{.method = HttpMethod::kDelete,
                                     .path = "/limits/type/{code}",
                                     .permission = Permission::kWrite,
                                     .id = "deleteTypeLimit",
                                     .tag = Tag::kLimits,
                                     .summary = "Removes the limit of a type",
                                     .more = "Runs that wait for it start at once.",
                                     .subject = &kTypeCode,
                                     .answers = {{{204, "Gone."}}}};

constexpr RouteInfo kPutHostLimit{
    .method = HttpMethod::kPut,
    .path = "/limits/host/{host}",
    .permission = Permission::kWrite,
    .id = "putHostLimit",
    .tag = Tag::kLimits,
    .summary = "Limits the calls to a host",
    .more = "Over all servers of the store together.",
    .subject = &kHost,
    .body = &codec::kLimitSchema,
    .answers = {{{200, "Replaced.", &kStoredLimit, kETag}, {201, "Made.", &kStoredLimit, kETag}}},
    .makes_subject = true};

constexpr RouteInfo kDeleteHostLimit{.method = HttpMethod::kDelete,
                                     .path = "/limits/host/{host}",
                                     .permission = Permission::kWrite,
                                     .id = "deleteHostLimit",
                                     .tag = Tag::kLimits,
                                     .summary = "Removes the limit of a host",
                                     .more = "Runs that wait for it start at once.",
                                     .subject = &kHost,
                                     .answers = {{{204, "Gone."}}}};

}  // namespace

void AddLimitRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context) {
    const auto handlers = std::make_shared<const LimitHandlers>(context);
    const auto add = [&](const RouteInfo& info, auto handler) {
        AddRoute(router, context, info,
                 [handlers, handler](const Call& call) { return ((*handlers).*handler)(call); });
    };
    add(kListLimits, &LimitHandlers::List);
    add(kPutTypeLimit, &LimitHandlers::PutType);
    add(kDeleteTypeLimit, &LimitHandlers::DeleteType);
    add(kPutHostLimit, &LimitHandlers::PutHost);
    add(kDeleteHostLimit, &LimitHandlers::DeleteHost);
    add(kResetBreaker, &LimitHandlers::ResetBreaker);
}

}  // namespace ksana::api
