#include "ksana/api_v1/stored_limit.hpp"

#include <fmt/core.h>

#include "ksana/api_v1/entity_tag.hpp"
#include "ksana/api_v1/frame.hpp"
#include "ksana/codec/limit_codec.hpp"
#include "ksana/engine/limit_source.hpp"

namespace ksana::api_v1 {
namespace {

using http_server::Request;

std::string RateText(const model::Rate& rate) {
    return ObjectText()
        .Put("count", rate.count)
        .Put("per", rate.per)
        .Put("burst", rate.burst)
        .Take();
}

// Null: nothing is there. Any tag of the same version holds, whatever was in use then.
bool MayChange(const Request& request, const StoredLimit* stored) {
    if (stored == nullptr) return !request.headers.Find("If-Match");
    if (request.headers.Find("If-None-Match") == "*") return false;
    const auto wish = request.headers.Find("If-Match");
    if (!wish || *wish == "*") return true;
    return wish->find(fmt::format("\"{}-", stored->version)) != std::string_view::npos ||
           wish->find(fmt::format("\"{}\"", stored->version)) != std::string_view::npos;
}

bool IsConditional(const Request& request) {
    return request.headers.Find("If-Match") || request.headers.Find("If-None-Match");
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

void PutLimit(ObjectText& text, const model::Limit& limit) {
    text.Raw("max_concurrency",
             limit.max_concurrency ? std::to_string(*limit.max_concurrency) : "null");
    text.Raw("rate", limit.rate ? RateText(*limit.rate) : "null");
}

Result<std::optional<LimitChange>> PutStoredLimit(store::Store& store, const Request& request,
                                                  const std::string& setting,
                                                  const model::Limit& limit) {
    KSANA_TRY(const auto before, FindLimit(store, setting));
    if (!MayChange(request, before ? &*before : nullptr)) return std::optional<LimitChange>();
    if (!before) {
        KSANA_TRY(const auto limits, engine::ReadLimits(store));
        if (limits.size() >= engine::kMaxLimits) {
            return Error(Code::kExhausted,
                         fmt::format("there are {} limits already", limits.size()));
        }
    }
    store::SettingWrite write{
        .key = setting, .value = codec::LimitToJson(limit), .expected = {}, .expires_at = {}};
    if (IsConditional(request)) write.expected = before ? before->version : 0;
    const auto written = store.settings().Put(std::move(write));
    if (!written) {
        if (IsConditional(request) && written.error().code == Code::kConflict) {
            return std::optional<LimitChange>();
        }
        return written.error();
    }
    return std::optional(LimitChange{
        .stored = {.limit = limit, .version = written->version, .updated_at = written->updated_at},
        .is_new = !before});
}

Result<bool> DeleteStoredLimit(store::Store& store, const Request& request,
                               const std::string& setting) {
    KSANA_TRY(const auto before, FindLimit(store, setting));
    if (!before) return Error(Code::kNotFound, "there is no such limit");
    if (!MayChange(request, &*before)) return false;
    std::optional<std::int64_t> expected;
    if (IsConditional(request)) expected = before->version;
    const auto deleted = store.settings().Delete(setting, expected);
    if (deleted) return true;
    if (expected && deleted.error().code == Code::kConflict) return false;
    return deleted.error();
}

http_server::Response LimitChanged412(const Request& request) {
    return Refuse(request, {.status = 412,
                            .code = "precondition_failed",
                            .detail = "the limit is not what the condition asks for: read it "
                                      "again"});
}

}  // namespace ksana::api_v1
