#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ksana/store_kit/driver/backend.hpp"
#include "ksana/store_kit/file_lock.hpp"
#include "ksana/store_kit/group_commit.hpp"
#include "ksana/store_sqlite/sqlite_transaction.hpp"
#include "ksana/store_sqlite/wire/reader_pool.hpp"
#include "ksana/store_sqlite/wire/wal_keeper.hpp"

namespace ksana::store_sqlite {

// The writing connection: the only one that writes or checkpoints, used by one thread.
class SqliteWriter final : public store_kit::CommitSession {
  public:
    SqliteWriter(Connection& connection, ReaderPool& readers, Shared& shared)
        : connection_(connection),
          session_{{connection, shared, &session_.seq_book}, {}, {}, {}, {}},
          keeper_(connection, readers) {}

    Result<void> Begin() override { return connection_.Begin(); }
    store_kit::Transaction& NextBody() override {
        session_.noted.Clear();
        return transaction_.emplace(session_);
    }
    std::int64_t changes() const override { return connection_.changes(); }
    Result<void> Commit() override;
    void Rollback() override;
    bool Maintain(bool idle) override { return keeper_.Maintain(idle); }

  private:
    void Forget();

    Connection& connection_;
    WriteSession session_;
    std::optional<SqliteTransaction> transaction_;
    WalKeeper keeper_;
};

// Members are in the order in which they must be there; the group commit goes first, and finishes
// what is queued.
class SqliteBackend final : public store_kit::Backend {
  public:
    // Without a writer it only reads.
    SqliteBackend(std::string path, Clock& clock, std::size_t readers, store_kit::FileLock lock,
                  std::unique_ptr<Connection> writer);

    Result<void> Start();

    Result<void> Write(const WriteBody& body) override;
    Result<void> Read(const ReadBody& body) override { return readers_.Read(body); }
    store::ChangeFeed& changes() override { return changes_; }
    Result<store::StoreInfo> Info() override;

    // For tests that provoke what a disk does. Not while somebody writes.
    Connection& WriterForTest() { return *connection_; }

  private:
    const std::string path_;
    store_kit::FileLock lock_;
    store::ChangeFeed changes_;
    Shared shared_;
    std::unique_ptr<Connection> connection_;  // null: only reads. Closed last, so that it is the
                                              // one that copies the log and deletes it
    ReaderPool readers_;
    std::optional<SqliteWriter> writer_;
    std::optional<store_kit::GroupCommit> group_commit_;
};

}  // namespace ksana::store_sqlite
