#include "ksana/api/v1/stored_limit.hpp"

#include <fmt/core.h>

#include "ksana/api/edge/entity_tag.hpp"
#include "ksana/api/edge/frame.hpp"
#include "ksana/api/edge/guard.hpp"
#include "ksana/codec/schema/field_schema.hpp"
#include "ksana/codec/v1/audit_view.hpp"
#include "ksana/codec/v1/limit_codec.hpp"
#include "ksana/engine/limits/limit_source.hpp"
#include "ksana/model/audit_event.hpp"

namespace ksana::api {
namespace {

using http_server::Request;

std::string RateText(const model::Rate& rate) {
    return ObjectText()
        .Put("count", rate.count)
        .Put("per", rate.per)
        .Put("burst", rate.burst)
        .Take();
}

// Returns whether the conditions of a request hold. `stored` is null if the limit is not set. Any
// tag with the same version matches, whatever was in use at its time.
bool MayChange(const Request& request, const StoredLimit* stored) {
    if (stored == nullptr) return !request.headers.Find("If-Match");
    if (request.headers.Find("If-None-Match") == "*") return false;
    return IfMatchVersion(request, stored->version) != MatchResult::kDiffers;
}

std::string SettingOf(const LimitTarget& target) {
    return engine::LimitSettingOf(target.kind, target.name);
}

model::AuditEvent Audit(const LimitTarget& target, std::string_view action,
                        const Request& request) {
    const engine::Actor by = api::ActorOf(request);
    const bool group = target.kind == model::LimitKind::kGroup;
    return engine::AuditOf(
        by, {.action = action,
             .resource_type = group ? model::audit::kGroup : model::audit::kLimit,
             .resource_id = group ? target.name
                                  : fmt::format("{}/{}", model::NameOf(target.kind), target.name),
             .tenant = model::AuditEvent{}.tenant,
             .data = codec::AuditDataToJson({{"request_id", by.request_id}})});
}

Result<void> CheckRoom(store::Store& store) {
    KSANA_TRY(const auto limits, engine::ReadLimits(store));
    if (limits.size() < engine::kMaxLimits) return {};
    return Error(Code::kExhausted, fmt::format("there are {} limits already", limits.size()));
}

// Returns the stored limit. One that cannot be parsed is returned as empty, so that it can be
// replaced.
Result<std::optional<StoredLimit>> FindOrEmpty(store::Store& store, const std::string& setting) {
    const auto found = store.settings().Get(setting);
    if (!found) {
        if (found.error().code == Code::kNotFound) return std::optional<StoredLimit>();
        return found.error();
    }
    if (auto stored = StoredLimitOf(*found)) return std::optional(*std::move(stored));
    return std::optional(
        StoredLimit{.limit = {}, .version = found->version, .updated_at = found->updated_at});
}

// Calls change(before), which writes with compare-and-set, and repeats it if another request wrote
// first.
template <class Change>
Result<void> RetryOnConflict(store::Store& store, const LimitTarget& target, const Change& change) {
    constexpr int kMaxLimitTries = 10;
    for (int tries = 1;; ++tries) {
        KSANA_TRY(const auto before, FindOrEmpty(store, SettingOf(target)));
        Result<void> changed = change(before);
        if (changed || tries == kMaxLimitTries) return changed;
        const Code code = changed.error().code;
        const bool gone = code == Code::kNotFound && before.has_value();
        if (code != Code::kConflict && code != Code::kAlreadyExists && !gone) return changed;
    }
}

}  // namespace

Result<StoredLimit> StoredLimitOf(const model::Document& document) {
    KSANA_TRY(model::Limit limit, codec::LimitFromJson(document.body));
    return StoredLimit{
        .limit = std::move(limit), .version = document.version, .updated_at = document.updated_at};
}

Result<std::optional<StoredLimit>> FindLimit(store::Store& store, const std::string& setting) {
    const auto found = store.settings().Get(setting);
    if (!found) {
        if (found.error().code == Code::kNotFound) return std::optional<StoredLimit>();
        return found.error();
    }
    KSANA_TRY(StoredLimit stored, StoredLimitOf(*found));
    return std::optional(std::move(stored));
}

codec::ObjectSchema LimitMembers() { return codec::ObjectOf<model::Limit>(); }

void PutLimit(ObjectText& text, const model::Limit& limit) {
    text.Raw("max_concurrency",
             limit.max_concurrency ? std::to_string(*limit.max_concurrency) : "null");
    text.Raw("rate", limit.rate ? RateText(*limit.rate) : "null");
}

Result<std::optional<LimitChange>> PutStoredLimit(store::Store& store, const Request& request,
                                                  const LimitTarget& target,
                                                  const model::Limit& limit) {
    std::optional<LimitChange> change;
    const auto put = [&](const std::optional<StoredLimit>& before) -> Result<void> {
        change.reset();
        if (!MayChange(request, before ? &*before : nullptr)) return {};
        if (!before) KSANA_TRY_VOID(CheckRoom(store));
        const auto action = before ? model::audit::kChanged : model::audit::kCreated;
        KSANA_TRY(const model::Document written,
                  store.settings().Put({.key = SettingOf(target),
                                        .value = codec::LimitToJson(limit),
                                        .expected = before ? before->version : 0,
                                        .expires_at = {},
                                        .audit = Audit(target, action, request)}));
        change = LimitChange{.stored = {.limit = limit,
                                        .version = written.version,
                                        .updated_at = written.updated_at},
                             .is_new = !before};
        return {};
    };
    KSANA_TRY_VOID(RetryOnConflict(store, target, put));
    return change;
}

Result<bool> DeleteStoredLimit(store::Store& store, const Request& request,
                               const LimitTarget& target) {
    bool deleted = false;
    const auto remove = [&](const std::optional<StoredLimit>& before) -> Result<void> {
        if (!before) return Error(Code::kNotFound, "there is no such limit");
        if (!MayChange(request, &*before)) return {};
        KSANA_TRY_VOID(store.settings().Delete(SettingOf(target), before->version,
                                               Audit(target, model::audit::kDeleted, request)));
        deleted = true;
        return {};
    };
    KSANA_TRY_VOID(RetryOnConflict(store, target, remove));
    return deleted;
}

Result<void> ResetBreakersOf(store::Store& store, const Request& request, const LimitTarget& host) {
    KSANA_TRY(const TimePoint now, store.Now());
    KSANA_TRY_VOID(
        store.settings().Put({.key = std::string(engine::kBreakerSettings) + host.name,
                              .value = "{}",
                              .expected = {},
                              .expires_at = now + engine::kBreakerResetKept,
                              .audit = Audit(host, model::audit::kBreakerReset, request)}));
    return {};
}

http_server::Response LimitChanged412(const Request& request) {
    return Refuse(request, {.status = 412,
                            .code = "precondition_failed",
                            .detail = "the limit is not what the condition asks for: read it "
                                      "again"});
}

}  // namespace ksana::api
