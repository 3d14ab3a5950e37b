#include "stores/bare_sqlite.hpp"

#include "ksana/base/error/check.hpp"

namespace ksana::bench {
namespace {

void Prepare(sqlite3* database, const char* sql, sqlite3_stmt** statement) {
    const int rc =
        sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, nullptr);
    KSANA_CHECK(rc == SQLITE_OK, sqlite3_errmsg(database));
}

}  // namespace

BareSqlite::BareSqlite(const std::string& path) {
    KSANA_CHECK(sqlite3_open(path.c_str(), &database_) == SQLITE_OK, "open");
    Run("pragma journal_mode=wal; pragma synchronous=full; pragma wal_autocheckpoint=4000; "
        "pragma cache_size=-64000;");
    Run("create table job(id integer primary key, queue int not null, state int not null, "
        "run_at int not null, attempt int not null, payload blob not null);"
        "create index ready on job(queue,run_at,id) where state=0;");
    Prepare(database_, "insert into job(queue,state,run_at,attempt,payload) values(1,0,?,0,?)",
            &insert_);
    Prepare(database_,
            "update job set state=1, attempt=attempt+1 where id in (select id from job where "
            "queue=1 and state=0 order by run_at,id limit ?) returning id,payload",
            &claim_);
    Prepare(database_, "delete from job where id=?", &done_);
}

BareSqlite::~BareSqlite() {
    for (sqlite3_stmt* statement : {insert_, claim_, done_}) sqlite3_finalize(statement);
    sqlite3_close(database_);
}

void BareSqlite::Run(const char* sql) {
    KSANA_CHECK(sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) == SQLITE_OK,
                sqlite3_errmsg(database_));
}

void BareSqlite::Insert(std::int64_t ready_at, const std::string& payload) {
    sqlite3_bind_int64(insert_, 1, ready_at);
    sqlite3_bind_blob(insert_, 2, payload.data(), static_cast<int>(payload.size()), SQLITE_STATIC);
    KSANA_CHECK(sqlite3_step(insert_) == SQLITE_DONE, sqlite3_errmsg(database_));
    sqlite3_reset(insert_);
}

std::size_t BareSqlite::ClaimAndDelete(std::size_t count) {
    for (const std::int64_t id : held_) {
        sqlite3_bind_int64(done_, 1, id);
        sqlite3_step(done_);
        sqlite3_reset(done_);
    }
    held_.clear();
    sqlite3_bind_int64(claim_, 1, static_cast<std::int64_t>(count));
    while (sqlite3_step(claim_) == SQLITE_ROW) held_.push_back(sqlite3_column_int64(claim_, 0));
    sqlite3_reset(claim_);
    return held_.size();
}

}  // namespace ksana::bench
