#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ksana/store_kit/driver/backend.hpp"
#include "ksana/store_kit/file_lock.hpp"
#include "ksana/store_kit/group_commit.hpp"
#include "ksana/store_sqlite/damage/file_guard.hpp"
#include "ksana/store_sqlite/sqlite_transaction.hpp"
#include "ksana/store_sqlite/wire/reader_pool.hpp"
#include "ksana/store_sqlite/wire/wal_keeper.hpp"

namespace ksana::store_sqlite {

// The writing session: the only connection that writes or checkpoints. Owned by SqliteBackend;
// GroupCommit calls it on the writer thread. After a failed commit or a rollback all caches are
// cleared.
class SqliteWriter final : public store_kit::CommitSession {
  public:
    SqliteWriter(const std::string& path, Connection& connection, ReaderPool& readers,
                 Shared& shared, PageSums* sums)
        : connection_(connection),
          session_{{connection, shared, &session_.seq_book}, {}, {}, {}, {}},
          guard_(path, connection, sums),
          keeper_(connection, readers, sums) {}

    Result<void> Begin() override {
        KSANA_TRY_VOID(guard_.Check());
        return connection_.Begin();
    }
    store_kit::Transaction& NextBody() override {
        session_.noted.Clear();
        return transaction_.emplace(session_);
    }
    std::int64_t changes() const override { return connection_.changes(); }
    Result<void> Commit() override;
    void Rollback() override;
    bool Maintain(bool idle) override { return guard_.Check() && keeper_.Maintain(idle); }

  private:
    // Clears what is cached of the transaction that was undone.
    void Forget();

    Connection& connection_;
    WriteSession session_;
    std::optional<SqliteTransaction> transaction_;
    FileGuard guard_;
    WalKeeper keeper_;
};

// One SQLite file: writes go through the group commit on its writer thread, reads run on the
// caller's thread with a connection of the pool. Owned by the store that MakeStore returns. Members
// are declared in the order of their dependencies; the group commit is destroyed first and finishes
// what is queued. Thread-safe. An error leaves nothing of the failed body behind.
class SqliteBackend final : public store_kit::Backend {
  public:
    // Without `writer` the backend only reads: Write returns kPermissionDenied. `sums` may be null.
    SqliteBackend(std::string path, Clock& clock, std::size_t readers, store_kit::FileLock lock,
                  std::unique_ptr<PageSums> sums, std::unique_ptr<Connection> writer);

    // Loads the policies and starts the writer thread. Call once, before all else.
    Result<void> Start();

    Result<void> Write(const WriteBody& body) override;
    Result<void> Read(const ReadBody& body) override { return readers_.Read(body); }
    bool WriteFails() override { return group_commit_ && group_commit_->fails(); }
    store::ChangeFeed& changes() override { return changes_; }
    Result<store::StoreInfo> Info() override;

    // For tests that provoke disk errors. Not while a write is in progress.
    Connection& WriterForTest() { return *connection_; }

  private:
    const std::string path_;
    store_kit::FileLock lock_;
    store::ChangeFeed changes_;
    Shared shared_;
    std::unique_ptr<PageSums> sums_;
    // Null: read only. Closed last, so that its close copies the log into the database and deletes
    // it.
    std::unique_ptr<Connection> connection_;
    ReaderPool readers_;
    std::optional<SqliteWriter> writer_;
    std::optional<store_kit::GroupCommit> group_commit_;
};

}  // namespace ksana::store_sqlite
