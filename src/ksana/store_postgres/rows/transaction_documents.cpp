#include <fmt/core.h>

#include "ksana/store_postgres/lists/conditions.hpp"
#include "ksana/store_postgres/rows/postgres_transaction.hpp"

// Documents: small records by kind and key.

namespace ksana::store_postgres {
namespace {

using model::Document;

// A row that does not exist cannot be locked, but an advisory lock of its name can be taken.
constexpr std::string_view kLockName =
    "SELECT pg_advisory_xact_lock(hashtextextended('ksana.documents' || length($1::text) || ':' || "
    "$1::text || $2::text, 0))";
constexpr std::string_view kLockDocument =
    "SELECT kind, key, version, body, updated_at, expires_at FROM ksana.documents "
    "WHERE kind = $1::text AND key = $2::text FOR UPDATE";
constexpr std::string_view kPutDocument =
    "INSERT INTO ksana.documents (kind, key, version, body, updated_at, expires_at) "
    "VALUES ($1::text, $2::text, $3::bigint, $4::text, $5::bigint, $6::bigint) "
    "ON CONFLICT (kind, key) DO UPDATE SET version = excluded.version, body = excluded.body, "
    "updated_at = excluded.updated_at, expires_at = excluded.expires_at";
constexpr std::string_view kDeleteDocument =
    "DELETE FROM ksana.documents WHERE kind = $1::text AND key = $2::text";
constexpr std::string_view kPurgeDocuments =
    "WITH gone AS (DELETE FROM ksana.documents WHERE kind = $1::text AND key = ANY(ARRAY("
    "SELECT key FROM ksana.documents WHERE kind = $1::text AND expires_at <= $2::bigint "
    "ORDER BY expires_at LIMIT $3::bigint FOR UPDATE SKIP LOCKED)) RETURNING 1) "
    "SELECT count(*) FROM gone";

Document ReadDocument(RowReader row) {
    Document document;
    document.kind = row.Text();
    document.key = row.Text();
    document.version = row.Int64();
    document.body = row.Text();
    document.updated_at = row.Time();
    document.expires_at = row.MaybeTime();
    return document;
}

}  // namespace

Result<std::optional<Document>> PostgresTransaction::LockDocument(const std::string& kind,
                                                                  const std::string& key) {
    std::vector<Statement> statements;
    statements.push_back({kLockName, Params().Add(kind).Add(key), {}});
    statements.push_back({kLockDocument, Params().Add(kind).Add(key), {}});
    KSANA_TRY(const auto answers, session_.QueryAll(std::move(statements)));
    if (answers[1].size() == 0) return std::optional<Document>();
    return std::optional(ReadDocument(RowReader(answers[1], 0)));
}

Result<void> PostgresTransaction::PutDocument(const Document& document) {
    session_.Defer(kPutDocument, Params()
                                     .Add(document.kind)
                                     .Add(document.key)
                                     .Add(document.version)
                                     .Add(document.body)
                                     .Add(Micros(document.updated_at))
                                     .Add(Micros(document.expires_at)));
    return {};
}

Result<void> PostgresTransaction::DeleteDocument(const std::string& kind, const std::string& key) {
    session_.Defer(kDeleteDocument, Params().Add(kind).Add(key));
    return {};
}

Result<std::size_t> PostgresTransaction::PurgeDocuments(const std::string& kind,
                                                        TimePoint expired_by, std::size_t limit) {
    KSANA_TRY(
        const Rows rows,
        session_.Query(
            kPurgeDocuments,
            Params().Add(kind).Add(Micros(expired_by)).Add(static_cast<std::int64_t>(limit))));
    return static_cast<std::size_t>(RowReader(rows, 0).Int64());
}

Result<std::vector<Document>> PostgresTransaction::ListDocuments(
    const store_kit::DocumentList& list) {
    Conditions where;
    if (list.kind.empty()) {
        if (!list.after_kind.empty() || !list.after_key.empty()) {
            const std::size_t kind = where.Number(list.after_kind);
            const std::size_t key = where.Number(list.after_key);
            where.And(fmt::format("(kind, key) > (${}::text, ${}::text)", kind, key));
        }
    } else {
        where.Add("kind = ${}::text", list.kind);
        where.AddText("key > ${}::text", list.after_key);
    }
    if (!list.prefix.empty()) {
        where.Add("key >= ${}::text", list.prefix);
        where.Add("starts_with(key, ${}::text)", list.prefix);
    }
    if (list.alive_at) {
        where.Add("(expires_at IS NULL OR expires_at > ${}::bigint)", Micros(*list.alive_at));
    }
    const std::size_t limit = where.Number(static_cast<std::int64_t>(list.limit));
    KSANA_TRY(const Rows rows,
              session_.QueryBuilt(
                  fmt::format("SELECT kind, key, version, body, updated_at, expires_at "
                              "FROM ksana.documents{} ORDER BY kind, key LIMIT ${}::bigint",
                              where.text(), limit),
                  where.Take()));
    std::vector<Document> documents;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        documents.push_back(ReadDocument(RowReader(rows, i)));
    }
    return documents;
}

}  // namespace ksana::store_postgres
