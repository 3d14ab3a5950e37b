#include <fmt/core.h>

#include <map>

#include "ksana/store_postgres/lists/conditions.hpp"
#include "ksana/store_postgres/rows/postgres_transaction.hpp"

// Unique keys of runs, the ledger and audit events, except for the lists of events.

namespace ksana::store_postgres {
namespace {

using model::AuditEvent;
using model::LedgerEntry;
using store_kit::KeyClaim;

// Waits for a key that another transaction is about to take. The upsert also locks a key that is
// held, so the holder that kKeyHolders returns keeps it until this transaction ends.
constexpr std::string_view kTakeKeys =
    "INSERT INTO ksana.run_keys AS k (tenant, key, run_id, until) "
    "SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[], $4::bigint[]) "
    "AS v(tenant, key, run_id, until) ORDER BY tenant COLLATE \"C\", key COLLATE \"C\" "
    "ON CONFLICT (tenant, key) DO UPDATE SET run_id = excluded.run_id, until = excluded.until "
    "WHERE k.until <= $5::bigint RETURNING k.tenant, k.key";
constexpr std::string_view kKeyHolders =
    "SELECT k.tenant, k.key, k.run_id FROM ksana.run_keys k "
    "JOIN unnest($1::text[], $2::text[]) AS v(tenant, key) "
    "ON k.tenant = v.tenant AND k.key = v.key";
constexpr std::string_view kFreeKeys =
    "DELETE FROM ksana.run_keys k USING unnest($1::text[], $2::text[], $3::uuid[]) "
    "AS v(tenant, key, run_id) WHERE k.tenant = v.tenant AND k.key = v.key "
    "AND k.run_id = v.run_id";

constexpr std::string_view kInsertLedger =
    "INSERT INTO ksana.ledger (seq, job_id, fate, count, first_at, last_at, recorded_at) "
    "SELECT coalesce(v.seq, nextval('ksana.ledger_seq_seq')), v.job_id, v.fate, v.count, "
    "v.first_at, v.last_at, v.recorded_at FROM unnest($1::bigint[], $2::text[], $3::smallint[], "
    "$4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[]) "
    "AS v(seq, job_id, fate, count, first_at, last_at, recorded_at)";
constexpr std::string_view kInsertEvents =
    "INSERT INTO ksana.audit_events (seq, at, tenant, action, user_name, resource_type, "
    "resource_id, old_object, new_object, data, client_ip, method) "
    "SELECT coalesce(v.seq, nextval('ksana.audit_events_seq_seq')), v.at, v.tenant, v.action, "
    "v.user_name, v.resource_type, v.resource_id, v.old_object, v.new_object, v.data, "
    "v.client_ip, v.method FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], "
    "$5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], "
    "$12::text[]) AS v(seq, at, tenant, action, user_name, resource_type, resource_id, "
    "old_object, new_object, data, client_ip, method)";
// A sequence must not return a number again that was imported.
constexpr std::string_view kSkipLedgerSeq =
    "SELECT setval('ksana.ledger_seq_seq', greatest($1::bigint, "
    "(SELECT last_value FROM ksana.ledger_seq_seq)))";
constexpr std::string_view kSkipEventSeq =
    "SELECT setval('ksana.audit_events_seq_seq', greatest($1::bigint, "
    "(SELECT last_value FROM ksana.audit_events_seq_seq)))";

constexpr std::string_view kPurgeEvents =
    "WITH gone AS (DELETE FROM ksana.audit_events WHERE seq = ANY(ARRAY("
    "SELECT seq FROM ksana.audit_events WHERE at < $1::bigint ORDER BY at, seq LIMIT $2::bigint "
    "FOR UPDATE SKIP LOCKED)) RETURNING 1) SELECT count(*) FROM gone";

template <class Item>
std::optional<std::int64_t> GivenSeq(const Item& item) {
    return item.seq == 0 ? std::nullopt : std::optional(item.seq);
}

template <class Item>
std::int64_t HighestSeq(const std::vector<Item>& items) {
    std::int64_t highest = 0;
    for (const Item& item : items) highest = std::max(highest, item.seq);
    return highest;
}

LedgerEntry ReadEntry(RowReader row) {
    LedgerEntry entry;
    entry.seq = row.Int64();
    entry.job_id = row.Text();
    entry.range.fate = row.Enum<model::FireFate>();
    entry.range.range.count = row.Int64();
    entry.range.range.first = row.Time();
    entry.range.range.last = row.Time();
    entry.recorded_at = row.Time();
    return entry;
}

}  // namespace

Result<std::vector<std::optional<Uuid>>> PostgresTransaction::TakeKeys(
    const std::vector<KeyClaim>& claims, TimePoint now) {
    locks_.NoteOutOfTurn();
    std::vector<std::optional<Uuid>> holders;
    if (claims.empty()) return holders;
    const auto tenant = [](const KeyClaim& claim) -> const std::string& { return claim.tenant; };
    const auto key = [](const KeyClaim& claim) -> const std::string& { return claim.key; };
    std::vector<Statement> statements(2);
    statements[0].sql = kTakeKeys;
    statements[0]
        .params.Array(claims, tenant)
        .Array(claims, key)
        .Array(claims, [](const KeyClaim& claim) { return claim.run_id; })
        .Array(claims, [](const KeyClaim& claim) { return Micros(claim.until); })
        .Add(Micros(now));
    statements[1].sql = kKeyHolders;
    statements[1].params.Array(claims, tenant).Array(claims, key);
    KSANA_TRY(const auto answers, session_.QueryAll(std::move(statements)));
    std::map<std::pair<std::string, std::string>, std::optional<Uuid>> by_key;
    for (std::size_t i = 0; i < answers[1].size(); ++i) {
        RowReader row(answers[1], i);
        std::string of_tenant = row.Text();
        std::string name = row.Text();
        by_key[{std::move(of_tenant), std::move(name)}] = row.Id();
    }
    for (std::size_t i = 0; i < answers[0].size(); ++i) {
        RowReader row(answers[0], i);
        std::string of_tenant = row.Text();
        by_key[{std::move(of_tenant), row.Text()}].reset();
    }
    for (const KeyClaim& claim : claims) holders.push_back(by_key[{claim.tenant, claim.key}]);
    return holders;
}

Result<void> PostgresTransaction::FreeKeys(const std::vector<KeyClaim>& claims) {
    if (claims.empty()) return {};
    session_.Defer(
        kFreeKeys,
        Params()
            .Array(claims, [](const KeyClaim& c) -> const std::string& { return c.tenant; })
            .Array(claims, [](const KeyClaim& c) -> const std::string& { return c.key; })
            .Array(claims, [](const KeyClaim& c) { return c.run_id; }));
    return {};
}

Result<void> PostgresTransaction::InsertLedger(const std::vector<LedgerEntry>& entries) {
    if (entries.empty()) return {};
    session_.Defer(
        kInsertLedger,
        Params()
            .Array(entries, [](const LedgerEntry& e) { return GivenSeq(e); })
            .Array(entries, [](const LedgerEntry& e) -> const std::string& { return e.job_id; })
            .Array(entries, [](const LedgerEntry& e) { return Small(e.range.fate); })
            .Array(entries, [](const LedgerEntry& e) { return e.range.range.count; })
            .Array(entries, [](const LedgerEntry& e) { return Micros(e.range.range.first); })
            .Array(entries, [](const LedgerEntry& e) { return Micros(e.range.range.last); })
            .Array(entries, [](const LedgerEntry& e) { return Micros(e.recorded_at); }));
    if (const std::int64_t highest = HighestSeq(entries); highest > 0) {
        session_.Defer(kSkipLedgerSeq, Params().Add(highest));
    }
    return {};
}

Result<void> PostgresTransaction::InsertEvents(const std::vector<AuditEvent>& events) {
    if (events.empty()) return {};
    const auto text = [](std::string AuditEvent::*member) {
        return [member](const AuditEvent& event) -> const std::string& { return event.*member; };
    };
    session_.Defer(kInsertEvents,
                   Params()
                       .Array(events, [](const AuditEvent& e) { return GivenSeq(e); })
                       .Array(events, [](const AuditEvent& e) { return Micros(e.at); })
                       .Array(events, text(&AuditEvent::tenant))
                       .Array(events, text(&AuditEvent::action))
                       .Array(events, text(&AuditEvent::user))
                       .Array(events, text(&AuditEvent::resource_type))
                       .Array(events, text(&AuditEvent::resource_id))
                       .Array(events, text(&AuditEvent::old_object))
                       .Array(events, text(&AuditEvent::new_object))
                       .Array(events, text(&AuditEvent::data))
                       .Array(events, text(&AuditEvent::client_ip))
                       .Array(events, text(&AuditEvent::method)));
    if (const std::int64_t highest = HighestSeq(events); highest > 0) {
        session_.Defer(kSkipEventSeq, Params().Add(highest));
    }
    return {};
}

Result<std::size_t> PostgresTransaction::PurgeEvents(TimePoint before, std::size_t limit) {
    KSANA_TRY(const Rows rows,
              session_.Query(kPurgeEvents,
                             Params().Add(Micros(before)).Add(static_cast<std::int64_t>(limit))));
    return static_cast<std::size_t>(RowReader(rows, 0).Int64());
}

Result<std::vector<LedgerEntry>> PostgresTransaction::ListLedger(
    const store_kit::LedgerList& list) {
    Conditions where;
    where.Add("seq > ${}::bigint", list.after);
    where.AddText("job_id = ${}::text", list.job_id);
    if (list.from) where.Add("last_at >= ${}::bigint", Micros(*list.from));
    if (list.until) where.Add("first_at < ${}::bigint", Micros(*list.until));
    const std::size_t limit = where.Number(static_cast<std::int64_t>(list.limit));
    KSANA_TRY(const Rows rows,
              session_.QueryBuilt(
                  fmt::format("SELECT seq, job_id, fate, count, first_at, last_at, recorded_at "
                              "FROM ksana.ledger{} ORDER BY seq LIMIT ${}::bigint",
                              where.text(), limit),
                  where.Take()));
    std::vector<LedgerEntry> entries;
    for (std::size_t i = 0; i < rows.size(); ++i) entries.push_back(ReadEntry(RowReader(rows, i)));
    return entries;
}

}  // namespace ksana::store_postgres
