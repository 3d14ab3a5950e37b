#include "stores/bare_postgres.hpp"

#include "ksana/base/error/check.hpp"

namespace ksana::bench {
namespace {

const std::string kPayload(100, 'p');

}  // namespace

BarePostgres::BarePostgres(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
    KSANA_CHECK(PQstatus(connection_) == CONNECTION_OK, PQerrorMessage(connection_));
    Run("SET client_min_messages = warning; CREATE SCHEMA IF NOT EXISTS bare; "
        "SET search_path = bare");
}

BarePostgres::~BarePostgres() { PQfinish(connection_); }

void BarePostgres::Run(const std::string& sql) {
    PGresult* result = PQexec(connection_, sql.c_str());
    const ExecStatusType status = PQresultStatus(result);
    KSANA_CHECK(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK,
                PQerrorMessage(connection_));
    PQclear(result);
}

void BarePostgres::Reset(std::size_t rows) {
    Run("DROP TABLE IF EXISTS job; "
        "CREATE TABLE job(id bigserial PRIMARY KEY, queue int NOT NULL, state int NOT NULL, "
        "run_at timestamptz NOT NULL DEFAULT now(), attempt int NOT NULL DEFAULT 0, "
        "payload text NOT NULL) WITH (fillfactor = 70); "
        "CREATE INDEX ready ON job(queue, run_at, id) WHERE state = 0; "
        "INSERT INTO job(queue, state, payload) SELECT 1, 0, repeat('p', 100) "
        "FROM generate_series(1, " +
        std::to_string(rows) + ")");
    Run("ANALYZE job");
    Settle();
}

void BarePostgres::Insert(std::size_t count) {
    std::string texts = "{";
    for (std::size_t i = 0; i < count; ++i) texts += (i == 0 ? "" : ",") + kPayload;
    texts += "}";
    const char* const values[] = {texts.c_str()};
    PGresult* result = PQexecParams(
        connection_,
        "INSERT INTO job(queue, state, payload) SELECT 1, 0, x FROM unnest($1::text[]) x", 1,
        nullptr, values, nullptr, nullptr, 0);
    KSANA_CHECK(PQresultStatus(result) == PGRES_COMMAND_OK, PQerrorMessage(connection_));
    PQclear(result);
}

std::size_t BarePostgres::DeleteAndClaim(std::size_t count) {
    const std::string limit = std::to_string(count);
    const char* const ids[] = {held_.c_str()};
    const char* const limits[] = {limit.c_str()};
    PQenterPipelineMode(connection_);
    PQsendQueryParams(connection_, "DELETE FROM job WHERE id = ANY($1::bigint[])", 1, nullptr, ids,
                      nullptr, nullptr, 0);
    PQsendQueryParams(connection_,
                      "UPDATE job SET state = 1, attempt = attempt + 1 WHERE id IN (SELECT id FROM "
                      "job WHERE queue = 1 AND state = 0 AND run_at <= now() ORDER BY run_at, id "
                      "LIMIT $1::bigint FOR UPDATE SKIP LOCKED) RETURNING id, payload",
                      1, nullptr, limits, nullptr, nullptr, 0);
    PQpipelineSync(connection_);
    std::size_t claimed = 0;
    for (bool synced = false; !synced;) {
        PGresult* result = PQgetResult(connection_);
        if (result == nullptr) continue;
        const ExecStatusType status = PQresultStatus(result);
        if (status == PGRES_TUPLES_OK) {
            claimed = static_cast<std::size_t>(PQntuples(result));
            held_ = "{";
            for (int i = 0; i < PQntuples(result); ++i) {
                held_ += (i == 0 ? "" : ",") + std::string(PQgetvalue(result, i, 0));
            }
            held_ += "}";
        }
        synced = status == PGRES_PIPELINE_SYNC;
        KSANA_CHECK(status != PGRES_FATAL_ERROR, PQerrorMessage(connection_));
        PQclear(result);
    }
    PQexitPipelineMode(connection_);
    return claimed;
}

}  // namespace ksana::bench
