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
#include "ksana/store_sqlite/damage/page_sums.hpp"
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
// kGathered: for a connection that will have synchronous=FULL (log_vfs.hpp).
enum class LogWrites { kPlain, kGathered };

// An open database with its prepared statements, which are prepared at their first use and kept.
// Owned by SqliteBackend (the writer) or ReaderPool; one thread at a time. If SQLite rolls a
// transaction back after an error, the connection is broken: every query fails until Rollback.
class Connection final : public Query::Owner {
  public:
    explicit Connection(DatabaseHandle database) : database_(std::move(database)) {}
    // How long to wait for a lock. Only needed while another process recovers the log as this one
    // opens the database, which is quick.
    static constexpr int kBusyTimeoutMs = 5'000;

    // `sums` checks what is read; it must outlive the connection. Null: nothing is checked.
    static Result<std::unique_ptr<Connection>> Open(const std::string& path, OpenMode mode,
                                                    LogWrites log = LogWrites::kPlain,
                                                    PageSums* sums = nullptr);

    // Returns a query. A statement that cannot be prepared breaks the connection, so that its query
    // fails.
    Query Prepared(Sql which);
    // As Prepared, for a statement built at run time (a list), kept by its text. One query of a
    // text at a time.
    Query Dynamic(const std::string& sql);
    // Runs several statements at once, for pragmas and migrations.
    Result<void> Execute(const std::string& sql);

    // Begins a write transaction. If an error inside it makes SQLite roll back, the connection is
    // broken until Rollback: later statements would otherwise be committed one by one.
    Result<void> Begin();
    // Begins a read of one state of the database, taken now. Ends with Rollback.
    Result<void> BeginRead();
    // An error rolls the transaction back.
    Result<void> Commit();
    void Rollback();

    // Grows with every row changed, and with every statement that failed and may have changed some
    // rows, which SQLite does not count.
    std::int64_t changes() const {
        return sqlite3_total_changes64(database_.get()) + failed_writes_;
    }
    // Number of rows changed by the last statement.
    std::int64_t last_changes() const { return sqlite3_changes64(database_.get()); }
    sqlite3* handle() { return database_.get(); }
    // The rows of the virtual table run_batch.
    RunBatch& batch() { return *batch_; }

    Error StepFailed(int rc, sqlite3_stmt* statement) override;
    const std::optional<Error>& broken() const override { return broken_; }

  private:
    StatementHandle Prepare(std::string_view sql);

    PageSums* sums_ = nullptr;
    std::unique_ptr<RunBatch> batch_ = std::make_unique<RunBatch>();
    DatabaseHandle database_;
    std::array<StatementHandle, kSqlCount> prepared_;
    // Statements of Dynamic, by text.
    std::unordered_map<std::string, StatementHandle> dynamic_;
    bool in_transaction_ = false;
    std::optional<Error> broken_;  // error that every query gets until Rollback
    std::int64_t failed_writes_ = 0;
};

// Returns what a result code of SQLite means for the rest of Ksana. Only the number decides.
Code CodeOf(int rc);

// Message: "doing: SQLite's text (its number)".
Error SqliteError(int rc, std::string_view doing, std::string_view text);

}  // namespace ksana::store_sqlite
