#include "ksana/store_sqlite/wire/connection.hpp"

#include <array>

#include <fmt/core.h>
#include <sqlite3.h>

#include "ksana/base/text/utf8.hpp"
#include "ksana/store_sqlite/wire/log_vfs.hpp"
#include "ksana/store_sqlite/wire/page_file.hpp"

namespace ksana::store_sqlite {
namespace {

// Maximum of cached list statements. Lists have few shapes in practice; when the cache is full, it
// is cleared.
constexpr std::size_t kMaxDynamic = 128;
constexpr std::size_t kMaxSqlInError = 60;

int FlagsOf(OpenMode mode) {
    // One thread at a time uses a connection, so SQLite's own mutexes would only cost time.
    constexpr int kCommon = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    switch (mode) {
        case OpenMode::kCreate:
            return kCommon | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
        case OpenMode::kExisting:
            return kCommon | SQLITE_OPEN_READWRITE;
        case OpenMode::kReadOnly:
            return kCommon | SQLITE_OPEN_READONLY;
    }
    return kCommon;
}

// Turns off memory statistics, which SQLite keeps for the whole process under one lock (Debian's
// build allocates often). Has no effect if other code in the process has used SQLite before.
void ConfigureOnce() {
    static const int ignored = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    (void)ignored;
}

}  // namespace

Result<std::unique_ptr<Connection>> Connection::Open(const std::string& path, OpenMode mode,
                                                     LogWrites log, PageSums* sums) {
    ConfigureOnce();
    sqlite3* database = nullptr;
    const int rc = sqlite3_open_v2(path.c_str(), &database, FlagsOf(mode), KsanaVfs());
    DatabaseHandle owned(database);
    if (rc != SQLITE_OK) {
        return SqliteError(rc, fmt::format("cannot open {}", path),
                           database == nullptr ? sqlite3_errstr(rc) : sqlite3_errmsg(database));
    }
    sqlite3_busy_timeout(database, kBusyTimeoutMs);
    FileOptions files{.sums = sums, .gather_log = log == LogWrites::kGathered};
    (void)sqlite3_file_control(database, nullptr, kAttachFiles, &files);
    auto connection = std::make_unique<Connection>(std::move(owned));
    connection->sums_ = sums;
    const int registered = connection->batch_->Register(database);
    if (registered != SQLITE_OK) {
        return SqliteError(registered, fmt::format("cannot open {}", path),
                           sqlite3_errmsg(database));
    }
    return connection;
}

StatementHandle Connection::Prepare(std::string_view sql) {
    sqlite3_stmt* statement = nullptr;
    const int rc = sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (rc != SQLITE_OK) {
        broken_ = SqliteError(rc, "cannot prepare", sqlite3_errmsg(database_.get()));
    }
    return StatementHandle(statement);
}

Query Connection::Prepared(Sql which) {
    StatementHandle& statement = prepared_.at(static_cast<std::size_t>(which));
    if (statement == nullptr) statement = Prepare(TextOf(which));
    return {*this, statement.get()};
}

Query Connection::Dynamic(const std::string& sql) {
    const auto found = dynamic_.find(sql);
    if (found != dynamic_.end()) return {*this, found->second.get()};
    if (dynamic_.size() >= kMaxDynamic) dynamic_.clear();
    StatementHandle statement = Prepare(sql);
    if (statement == nullptr) return {*this, nullptr};
    return {*this, dynamic_.emplace(sql, std::move(statement)).first->second.get()};
}

Result<void> Connection::Execute(const std::string& sql) {
    const int rc = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
    if (rc != SQLITE_OK) return StepFailed(rc, nullptr);
    return {};
}

Result<void> Connection::Begin() {
    KSANA_TRY_VOID(Prepared(Sql::kBegin).Run());
    in_transaction_ = true;
    return {};
}

// BEGIN alone takes no snapshot; the first read does.
Result<void> Connection::BeginRead() {
    KSANA_TRY_VOID(Prepared(Sql::kBeginRead).Run());
    return Prepared(Sql::kTakeSnapshot).Run();
}

Result<void> Connection::Commit() {
    auto committed = Prepared(Sql::kCommit).Run();
    if (committed) {
        in_transaction_ = false;
    } else {
        Rollback();
    }
    return committed;
}

// A failed ROLLBACK means that SQLite has already rolled back.
void Connection::Rollback() {
    in_transaction_ = false;
    broken_.reset();
    if (sqlite3_get_autocommit(database_.get()) == 0) {
        (void)Prepared(Sql::kRollback).Run();
        broken_.reset();
    }
}

Error Connection::StepFailed(int rc, sqlite3_stmt* statement) {
    const char* sql = statement == nullptr ? nullptr : sqlite3_sql(statement);
    Error error = SqliteError(rc, sql == nullptr ? "cannot run" : Excerpt(sql, kMaxSqlInError),
                              sqlite3_errmsg(database_.get()));
    if (error.code == Code::kDataLoss && sums_ != nullptr && !sums_->damage().empty()) {
        error.message = fmt::format("the database is damaged: {}", sums_->damage());
    }
    if (in_transaction_ && sqlite3_get_autocommit(database_.get()) != 0) broken_ = error;
    if (statement == nullptr || sqlite3_stmt_readonly(statement) == 0) ++failed_writes_;
    return error;
}

namespace {

struct Meaning {
    int rc;
    Code code;
};

constexpr int kPrimaryMask = 0xff;

// Looked up by the extended code first, then by the primary one.
constexpr std::array kMeanings = {
    Meaning{SQLITE_CONSTRAINT_PRIMARYKEY, Code::kAlreadyExists},
    Meaning{SQLITE_CONSTRAINT_UNIQUE, Code::kAlreadyExists},
    Meaning{SQLITE_CONSTRAINT_ROWID, Code::kAlreadyExists},
    Meaning{SQLITE_FULL, Code::kStorageFull},
    Meaning{SQLITE_NOMEM, Code::kUnavailable},
    Meaning{SQLITE_BUSY, Code::kUnavailable},
    Meaning{SQLITE_LOCKED, Code::kUnavailable},
    Meaning{SQLITE_IOERR, Code::kUnavailable},
    Meaning{SQLITE_CANTOPEN, Code::kUnavailable},
    Meaning{SQLITE_PROTOCOL, Code::kUnavailable},
    Meaning{SQLITE_PERM, Code::kPermissionDenied},
    Meaning{SQLITE_READONLY, Code::kPermissionDenied},
    Meaning{SQLITE_CORRUPT, Code::kDataLoss},
    Meaning{SQLITE_NOTADB, Code::kDataLoss},
    Meaning{SQLITE_TOOBIG, Code::kInvalidArgument},
};

}  // namespace

Code CodeOf(int rc) {
    for (const Meaning& meaning : kMeanings) {
        if (meaning.rc == rc) return meaning.code;
    }
    for (const Meaning& meaning : kMeanings) {
        if (meaning.rc == (rc & kPrimaryMask)) return meaning.code;
    }
    return Code::kInternal;
}

Error SqliteError(int rc, std::string_view doing, std::string_view text) {
    return {CodeOf(rc), fmt::format("sqlite: {}: {} ({})", doing, text, rc)};
}

}  // namespace ksana::store_sqlite
