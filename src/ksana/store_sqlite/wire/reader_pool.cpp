#include "ksana/store_sqlite/wire/reader_pool.hpp"

#include <fmt/core.h>

#include <chrono>

#include "ksana/store_sqlite/sqlite_transaction.hpp"

namespace ksana::store_sqlite {
namespace {

constexpr std::chrono::seconds kMaxWaitForReader{10};
// Limit for the writer's wait, which happens only when the log is far too long.
constexpr std::chrono::milliseconds kMaxWaitForQuiet{100};

// No checkpoints: only the writer may make one (SQLite 3.40 has a bug with several).
constexpr std::string_view kReaderPragmas =
    "PRAGMA query_only=1; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=-8000; "
    "PRAGMA temp_store=MEMORY; PRAGMA mmap_size=0";

}  // namespace

Result<std::unique_ptr<Connection>> ReaderPool::OpenOne() const {
    KSANA_TRY(auto connection,
              Connection::Open(path_, OpenMode::kReadOnly, LogWrites::kPlain, sums_));
    KSANA_TRY_VOID(connection->Execute(std::string(kReaderPragmas)));
    return connection;
}

Result<std::unique_ptr<Connection>> ReaderPool::Acquire() {
    MutexLock lock(mutex_);
    const bool free = changed_.WaitFor(lock, kMaxWaitForReader, [this]() KSANA_REQUIRES(mutex_) {
        return holds_ == 0 && busy_ < size_;
    });
    if (!free) {
        return Error(Code::kUnavailable, fmt::format("sqlite: all {} readers are busy", size_));
    }
    ++busy_;
    if (!free_.empty()) {
        auto connection = std::move(free_.back());
        free_.pop_back();
        return connection;
    }
    lock.Unlock();
    auto opened = OpenOne();
    if (!opened) Release(nullptr);
    return opened;
}

void ReaderPool::Release(std::unique_ptr<Connection> connection) {
    {
        const MutexLock lock(mutex_);
        --busy_;
        if (connection != nullptr) free_.push_back(std::move(connection));
    }
    changed_.NotifyAll();
}

bool ReaderPool::AwaitQuiet(MutexLock& lock) {
    return changed_.WaitFor(lock, kMaxWaitForQuiet,
                            [this]() KSANA_REQUIRES(mutex_) { return busy_ == 0; });
}

Result<void> ReaderPool::Read(const store_kit::Backend::ReadBody& body) {
    KSANA_TRY(auto connection, Acquire());
    auto result = connection->BeginRead();
    if (result) {
        ReadSession session{*connection, shared_};
        SqliteReader reader(session);
        result = body(reader);
    }
    connection->Rollback();
    Release(std::move(connection));
    return result;
}

}  // namespace ksana::store_sqlite
