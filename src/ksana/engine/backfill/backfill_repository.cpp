#include "ksana/engine/backfill/backfill_repository.hpp"

#include <fmt/core.h>

#include "ksana/codec/records/backfill_codec.hpp"

namespace ksana::engine {
namespace {

using model::Backfill;

constexpr std::string_view kStates = "backfill/";
constexpr std::string_view kFires = "backfill_fires/";
constexpr std::string_view kMarks = "backfill_active/";
// How long an ended backfill can be looked up.
constexpr Duration kEndedKept = std::chrono::hours(24 * 30);

std::string KeyOf(std::string_view prefix, const Uuid& id) {
    return std::string(prefix) + id.ToString();
}

}  // namespace

Result<void> BackfillRepository::Add(const Backfill& backfill, const std::vector<TimePoint>& fires,
                                     model::AuditEvent audit) {
    KSANA_TRY([[maybe_unused]] const auto mark,
              store_.settings().Put({.key = KeyOf(kMarks, backfill.id), .value = "true"}));
    KSANA_TRY([[maybe_unused]] const auto list,
              store_.settings().Put(
                  {.key = KeyOf(kFires, backfill.id), .value = codec::FiresToJson(fires)}));
    KSANA_TRY([[maybe_unused]] const auto state,
              store_.settings().Put({.key = KeyOf(kStates, backfill.id),
                                     .value = codec::BackfillToJson(backfill),
                                     .expected = 0,
                                     .expires_at = {},
                                     .audit = std::move(audit)}));
    return {};
}

Result<BackfillRepository::Kept> BackfillRepository::Get(const Uuid& id) {
    const auto document = store_.settings().Get(KeyOf(kStates, id));
    if (!document && document.error().code == Code::kNotFound) {
        return Error(Code::kNotFound, fmt::format("there is no backfill {}", id.ToString()));
    }
    if (!document) return document.error();
    KSANA_TRY(Backfill backfill, codec::BackfillFromJson(document->body));
    return Kept{.backfill = std::move(backfill), .version = document->version};
}

Result<store::Page<Backfill>> BackfillRepository::List(std::size_t limit,
                                                       const std::string& cursor) {
    KSANA_TRY(
        const auto documents,
        store_.settings().List({.prefix = std::string(kStates), .limit = limit, .cursor = cursor}));
    store::Page<Backfill> page;
    page.next = documents.next;
    for (const model::Document& document : documents.items) {
        KSANA_TRY(Backfill backfill, codec::BackfillFromJson(document.body));
        page.items.push_back(std::move(backfill));
    }
    return page;
}

Result<void> BackfillRepository::Put(const Kept& kept, std::optional<model::AuditEvent> audit) {
    const auto& ended = kept.backfill.ended_at;
    KSANA_TRY([[maybe_unused]] const auto written,
              store_.settings().Put(
                  {.key = KeyOf(kStates, kept.backfill.id),
                   .value = codec::BackfillToJson(kept.backfill),
                   .expected = kept.version,
                   .expires_at = ended ? std::optional(*ended + kEndedKept) : std::nullopt,
                   .audit = std::move(audit)}));
    return {};
}

Result<std::vector<TimePoint>> BackfillRepository::Fires(const Uuid& id) {
    KSANA_TRY(const model::Document document, store_.settings().Get(KeyOf(kFires, id)));
    return codec::FiresFromJson(document.body);
}

Result<std::vector<BackfillRepository::Mark>> BackfillRepository::Marked(std::size_t limit) {
    KSANA_TRY(
        const auto documents,
        store_.settings().List({.prefix = std::string(kMarks), .limit = limit, .cursor = {}}));
    std::vector<Mark> marks;
    for (const model::Document& document : documents.items) {
        const auto id = Uuid::Parse(document.key.substr(kMarks.size()));
        if (id) marks.push_back({.id = *id, .since = document.updated_at});
    }
    return marks;
}

Result<void> BackfillRepository::Unmark(const Uuid& id) {
    KSANA_TRY_VOID(DeleteIfThere(KeyOf(kFires, id)));
    return DeleteIfThere(KeyOf(kMarks, id));
}

Result<void> BackfillRepository::DeleteIfThere(const std::string& key) {
    auto deleted = store_.settings().Delete(key, std::nullopt);
    if (!deleted && deleted.error().code != Code::kNotFound) return deleted;
    return {};
}

}  // namespace ksana::engine
