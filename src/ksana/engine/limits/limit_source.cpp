#include "ksana/engine/limits/limit_source.hpp"

#include <array>
#include <optional>
#include <utility>

#include "ksana/base/log/log.hpp"
#include "ksana/codec/v1/limit_codec.hpp"
#include "ksana/engine/limits/limits.hpp"
#include "ksana/store/page.hpp"

namespace ksana::engine {
namespace {

using model::LimitKind;

constexpr std::string_view kTypePrefix = "limit/type/";
constexpr std::string_view kHostPrefix = "limit/host/";

constexpr std::array<std::pair<std::string_view, LimitKind>, 3> kPlaces = {
    {{kGroupSettings, LimitKind::kGroup},
     {kTypePrefix, LimitKind::kType},
     {kHostPrefix, LimitKind::kHost}}};

std::optional<std::string> LimitKeyOf(std::string_view setting) {
    for (const auto& [prefix, kind] : kPlaces) {
        if (setting.starts_with(prefix)) return LimitKey(kind, setting.substr(prefix.size()));
    }
    return std::nullopt;
}

void Add(const model::Document& document, std::map<std::string, model::Limit>& limits) {
    const auto key = LimitKeyOf(document.key);
    if (!key) return;
    auto limit = codec::LimitFromJson(document.body);
    if (!limit) {
        Log(LogLevel::kError, "a limit cannot be read and is not obeyed",
            {{"setting", document.key}, {"error", limit.error().Describe()}});
        return;
    }
    if (limit->max_concurrency || limit->rate) limits.emplace(*key, *std::move(limit));
}

}  // namespace

std::string LimitSettingOf(LimitKind kind, std::string_view name) {
    for (const auto& [prefix, of] : kPlaces) {
        if (of == kind) return std::string(prefix).append(name);
    }
    return {};
}

Result<std::map<std::string, model::Limit>> ReadLimits(store::Store& store) {
    std::map<std::string, model::Limit> limits;
    for (const std::string_view prefix : {kGroupSettings, kLimitSettings}) {
        store::ListParams params{
            .prefix = std::string(prefix), .limit = store::kMaxPageSize, .cursor = {}};
        do {
            KSANA_TRY(const store::Page<model::Document> page, store.settings().List(params));
            for (const model::Document& document : page.items) Add(document, limits);
            params.cursor = page.next;
        } while (!params.cursor.empty() && limits.size() < kMaxLimits);
    }
    return limits;
}

Result<std::map<std::string, TimePoint>> ReadBreakerResets(store::Store& store) {
    std::map<std::string, TimePoint> resets;
    store::ListParams params{
        .prefix = std::string(kBreakerSettings), .limit = store::kMaxPageSize, .cursor = {}};
    do {
        KSANA_TRY(const store::Page<model::Document> page, store.settings().List(params));
        for (const model::Document& document : page.items) {
            resets.emplace(document.key.substr(kBreakerSettings.size()), document.updated_at);
        }
        params.cursor = page.next;
    } while (!params.cursor.empty() && resets.size() < kMaxLimits);
    return resets;
}

}  // namespace ksana::engine
