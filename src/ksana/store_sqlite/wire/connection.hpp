#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <sqlite3.h>

#include "ksana/base/error/error.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/store_sqlite/rows/run_batch.hpp"
#include "ksana/store_sqlite/wire/query.hpp"
#include "ksana/store_sqlite/wire/statements.hpp"

namespace ksana::store_sqlite {

struct CloseDatabase {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct FinalizeStatement {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using DatabaseHandle = std::unique_ptr<sqlite3, CloseDatabase>;
using StatementHandle = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

enum class OpenMode { kCreate, kExisting, kReadOnly };
// Gathered: log_vfs.hpp, for a connection that will have synchronous=FULL.
enum class LogWrites { kPlain, kGathered };

// An open database with its prepared statements, which are made at their first use and kept. One
// thread at a time.
class Connection final : public Query::Owner {
  public:
    explicit Connection(DatabaseHandle database) : database_(std::move(database)) {}
    // For another process that recovers the log while we open: it is quick.
    static constexpr int kBusyTimeoutMs = 5'000;

    static Result<std::unique_ptr<Connection>> Open(const std::string& path, OpenMode mode,
                                                    LogWrites log = LogWrites::kPlain);

    // A statement that cannot be prepared breaks the connection, so that its query fails.
    Query Prepared(Sql which);
    // A statement made at run time (a list), kept by its text. One query of a text at a time.
    Query Dynamic(const std::string& sql);
    // Several statements at once, for pragmas and migrations.
    Result<void> Execute(const std::string& sql);

    // A transaction. An error inside it that makes SQLite roll back breaks the connection until
    // Rollback: what follows would otherwise be committed statement by statement.
    Result<void> Begin();
    // One state of the database, taken now, until Rollback.
    Result<void> BeginRead();
    Result<void> Commit();
    void Rollback();

    // Grows with every row changed, and with every statement that failed and may have changed some:
    // SQLite does not count those.
    std::int64_t changes() const {
        return sqlite3_total_changes64(database_.get()) + failed_writes_;
    }
    // Rows changed by the statement that ran last.
    std::int64_t last_changes() const { return sqlite3_changes64(database_.get()); }
    sqlite3* handle() { return database_.get(); }
    // What statements read as run_batch.
    RunBatch& batch() { return *batch_; }

    Error StepFailed(int rc, sqlite3_stmt* statement) override;
    const std::optional<Error>& broken() const override { return broken_; }

  private:
    StatementHandle Prepare(std::string_view sql);

    std::unique_ptr<RunBatch> batch_ = std::make_unique<RunBatch>();
    DatabaseHandle database_;
    std::array<StatementHandle, kSqlCount> prepared_;
    std::unordered_map<std::string, StatementHandle> dynamic_;
    bool in_transaction_ = false;
    std::optional<Error> broken_;
    std::int64_t failed_writes_ = 0;
};

// What a result code of SQLite means to the rest of Ksana. Only the number decides.
Code CodeOf(int rc);

// "doing: SQLite's text (its number)".
Error SqliteError(int rc, std::string_view doing, std::string_view text);

}  // namespace ksana::store_sqlite
