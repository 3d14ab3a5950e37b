#pragma once

#include <optional>

#include "ksana/base/process/shared_mutex.hpp"
#include "ksana/store_json/durable_file.hpp"
#include "ksana/store_json/load.hpp"
#include "ksana/store_kit/group_commit.hpp"
#include "ksana/store_memory/memory_transaction.hpp"

namespace ksana::store_json {

// The writer thread's view of the two files. Between Begin and the end of Commit nobody reads: what
// is not yet on disk is seen by no one. Begin takes the lock of the tables, Commit and Rollback
// give it back; the check of locks cannot follow that through the interface.
class JsonSession final : public store_kit::CommitSession {
  public:
    JsonSession(JsonOptions options, store_memory::Tables& tables, SharedMutex& mutex)
        : options_(std::move(options)), mutex_(mutex), tables_(tables) {}

    ~JsonSession() override;

    // Before the first transaction.
    Result<void> Open(const Loaded& loaded);

    // Fails while what an earlier error left in the files cannot be put right.
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
    Result<void> Persist(const store_memory::Tables::Journal& journal) KSANA_REQUIRES(mutex_);
    Result<void> Settle() KSANA_REQUIRES_SHARED(mutex_);
    Result<void> WriteJobs() KSANA_REQUIRES_SHARED(mutex_);
    Result<void> RewriteLog() KSANA_REQUIRES_SHARED(mutex_);

    const JsonOptions options_;
    SharedMutex& mutex_;  // of the tables
    store_memory::Tables& tables_ KSANA_GUARDED_BY(mutex_);
    SystemClock pace_;  // real time, whatever the options' clock is
    AppendFile log_;
    std::int64_t seq_ = 0;
    std::int64_t rewritten_size_ = 0;
    bool jobs_unsure_ = false;  // jobs.json may hold a change that was refused, or lack one
    Duration last_commit_{};
    std::optional<store_memory::MemoryTransaction> transaction_;
};

}  // namespace ksana::store_json
