#pragma once

#include <optional>

#include "ksana/base/process/shared_mutex.hpp"
#include "ksana/store_json/durable_file.hpp"
#include "ksana/store_json/load.hpp"
#include "ksana/store_kit/file_lock.hpp"
#include "ksana/store_kit/group_commit.hpp"
#include "ksana/store_memory/memory_transaction.hpp"

namespace ksana::store_json {

// Writes the two files for GroupCommit. Owned by the backend; called by the writer thread, except
// for Open and the destructor. No caller can read between Begin and the end of Commit, so nothing
// is seen that is not on disk. Begin takes the lock of the tables, Commit and Rollback release it,
// which the thread safety analysis cannot follow through the interface. A commit that fails is
// undone in the tables and in the files.
class JsonSession final : public store_kit::CommitSession {
  public:
    // `lock` is on the log.
    JsonSession(JsonOptions options, store_kit::FileLock lock, store_memory::Tables& tables,
                SharedMutex& mutex)
        : options_(std::move(options)), lock_(std::move(lock)), mutex_(mutex), tables_(tables) {}

    ~JsonSession() override;

    // Opens the log. Must be called before the first transaction.
    Result<void> Open(const Loaded& loaded);

    // Fails as long as the files cannot be restored after an earlier error.
    Result<void> Begin() override KSANA_NO_THREAD_SAFETY_ANALYSIS;
    store_kit::Transaction& NextBody() override;
    std::int64_t changes() const override {
        mutex_.AssertHeld();
        return static_cast<std::int64_t>(tables_.journal_size());
    }
    Result<void> Commit() override;
    void Rollback() override;
    bool Maintain(bool idle) override;

  private:
    Result<void> PersistOrRunOut(const store_memory::Tables::Journal& journal)
        KSANA_REQUIRES(mutex_);
    Result<void> Persist(const store_memory::Tables::Journal& journal) KSANA_REQUIRES(mutex_);
    Result<void> Settle() KSANA_REQUIRES_SHARED(mutex_);
    Result<void> WriteJobs() KSANA_REQUIRES_SHARED(mutex_);
    Result<void> RewriteLog() KSANA_REQUIRES_SHARED(mutex_);

    const JsonOptions options_;
    store_kit::FileLock lock_;
    // Another process has locked the log that a rewrite has just put in place.
    std::optional<Error> lock_lost_;
    SharedMutex& mutex_;  // guards the tables
    store_memory::Tables& tables_ KSANA_GUARDED_BY(mutex_);
    SystemClock pace_;  // real time, unlike options_.clock
    AppendFile log_;
    std::int64_t seq_ = 0;
    std::int64_t rewritten_size_ = 0;
    bool jobs_file_dirty_ =
        false;  // jobs.json may contain a refused change, or lack a committed one
    Duration last_commit_{};
    std::optional<store_memory::MemoryTransaction> transaction_;
};

}  // namespace ksana::store_json
