#include "ksana/store_kit/documents/documents.hpp"

#include <fmt/core.h>

#include "ksana/store_kit/documents/kit_events.hpp"
#include "ksana/store_kit/documents/text_checks.hpp"
#include "ksana/store_kit/lists/lists.hpp"
#include "ksana/store_kit/runs/kit_runs.hpp"

namespace ksana::store_kit {
namespace {

using model::Document;
constexpr std::size_t kMaxDocumentKey = 500;
constexpr std::string_view kKeyOrder = "key";

bool IsAlive(const Document& document, TimePoint now) {
    return !document.expires_at || *document.expires_at > now;
}

Result<void> CheckExpected(const std::optional<Document>& there, store::ExpectedVersion expected,
                           const std::string& key) {
    const std::int64_t version = there ? there->version : 0;
    if (!expected || *expected == version) return {};
    if (*expected == 0) {
        return Error(Code::kAlreadyExists, fmt::format("there is \"{}\" already", key));
    }
    return Error(Code::kConflict,
                 fmt::format("\"{}\" is at version {}, not {}", key, version, *expected));
}

Result<void> CheckDocument(const std::string& key, const std::string& body) {
    std::vector<Problem> problems;
    if (key.empty()) problems.push_back({"/key", "must not be empty"});
    CheckText(key, kMaxDocumentKey, Path("/key"), problems);
    CheckText(body, store::kMaxPayload, Path("/value"), problems);
    return Verdict(std::move(problems));
}

// Returns nothing for an expired document; `last_version` is its version all the same, so that it
// is not used again while the row exists.
Result<std::optional<Document>> LockAlive(Transaction& tx, const std::string& kind,
                                          const std::string& key, TimePoint now,
                                          std::int64_t& last_version) {
    KSANA_TRY(std::optional<Document> there, tx.LockDocument(kind, key));
    last_version = there ? there->version : 0;
    if (there && !IsAlive(*there, now)) there.reset();
    return there;
}

}  // namespace

Error Documents::NotFound(const std::string& key) const {
    return {Code::kNotFound, fmt::format("there is no {} \"{}\"", kind_, key)};
}

Result<Document> Documents::Put(std::string key, std::string body, store::ExpectedVersion expected,
                                std::optional<TimePoint> expires_at,
                                const std::optional<model::AuditEvent>& audit,
                                store::Topics topics) {
    KSANA_TRY_VOID(CheckDocument(key, body));
    KSANA_TRY_VOID(CheckAudit(audit));
    Document written;
    KSANA_TRY_VOID(backend_.Write([&](Transaction& tx) -> Result<void> {
        KSANA_TRY(const TimePoint now, tx.Now());
        std::int64_t last_version = 0;
        KSANA_TRY(const auto there, LockAlive(tx, kind_, key, now, last_version));
        KSANA_TRY_VOID(CheckExpected(there, expected, key));
        written = {kind_, key, last_version + 1, body, now, expires_at};
        tx.Touch(topics);
        KSANA_TRY_VOID(KeepAudit(tx, now, audit));
        return tx.PutDocument(written);
    }));
    return written;
}

Result<void> Documents::Update(const std::string& key, std::optional<TimePoint> now,
                               const Change& change, Notice notice) {
    KSANA_TRY_VOID(CheckDocument(key, ""));
    return backend_.Write([&](Transaction& tx) -> Result<void> {
        KSANA_TRY(const TimePoint at, TimeOf(now, tx));
        std::int64_t last_version = 0;
        KSANA_TRY(const auto there, LockAlive(tx, kind_, key, at, last_version));
        KSANA_TRY(std::optional<std::string> body, change(there, at));
        if (!body) return {};
        KSANA_TRY_VOID(CheckDocument(key, *body));
        if (notice == Notice::kTold) tx.Touch(store::Topic::kDocuments);
        return tx.PutDocument({kind_, key, last_version + 1, *std::move(body), at, std::nullopt});
    });
}

Result<Document> Documents::Get(const std::string& key) {
    std::optional<Document> found;
    KSANA_TRY_VOID(backend_.Read([&](Reader& rows) -> Result<void> {
        KSANA_TRY(const TimePoint now, rows.Now());
        KSANA_TRY(std::vector<Document> page,
                  rows.ListDocuments({.kind = kind_, .prefix = key, .alive_at = now, .limit = 1}));
        found.reset();
        // The key itself sorts before all keys that begin with it.
        if (!page.empty() && page[0].key == key) found = std::move(page[0]);
        return {};
    }));
    if (!found) return NotFound(key);
    return *std::move(found);
}

Result<store::Page<Document>> Documents::List(const store::ListParams& params) {
    DocumentList list{.kind = kind_, .prefix = params.prefix};
    KSANA_TRY(list.limit, CheckLimit(params.limit));
    KSANA_TRY(const auto position, store::ParseCursor(kKeyOrder, params.cursor));
    if (position) list.after_key = position->id;
    store::Page<Document> page;
    KSANA_TRY_VOID(backend_.Read([&](Reader& rows) -> Result<void> {
        KSANA_TRY(list.alive_at, rows.Now());
        KSANA_TRY(page.items, rows.ListDocuments(list));
        return {};
    }));
    if (page.items.size() == list.limit) {
        page.next = store::MakeCursor(kKeyOrder, {"", page.items.back().key});
    }
    return page;
}

Result<void> Documents::Delete(const std::string& key, store::ExpectedVersion expected,
                               const std::optional<model::AuditEvent>& audit) {
    KSANA_TRY_VOID(CheckAudit(audit));
    return backend_.Write([&](Transaction& tx) -> Result<void> {
        KSANA_TRY(const TimePoint now, tx.Now());
        std::int64_t last_version = 0;
        KSANA_TRY(const auto there, LockAlive(tx, kind_, key, now, last_version));
        if (!there) return NotFound(key);
        KSANA_TRY_VOID(CheckExpected(there, expected, key));
        tx.Touch(store::Topic::kDocuments);
        KSANA_TRY_VOID(KeepAudit(tx, now, audit));
        return tx.DeleteDocument(kind_, key);
    });
}

Result<std::size_t> Documents::PurgeExpired(std::size_t limit) {
    KSANA_TRY_VOID(CheckBatch(limit, "/limit"));
    std::size_t purged = 0;
    KSANA_TRY_VOID(backend_.Write([&](Transaction& tx) -> Result<void> {
        KSANA_TRY(const TimePoint now, tx.Now());
        KSANA_TRY(purged, tx.PurgeDocuments(kind_, now, limit));
        return {};
    }));
    return purged;
}

}  // namespace ksana::store_kit
