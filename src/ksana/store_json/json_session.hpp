#pragma once

#include <optional>
#include <shared_mutex>

#include "ksana/store_json/durable_file.hpp"
#include "ksana/store_json/load.hpp"
#include "ksana/store_kit/group_commit.hpp"
#include "ksana/store_memory/memory_transaction.hpp"

namespace ksana::store_json {

// The writer thread's view of the two files. Between Begin and the end of Commit nobody reads: what
// is not yet on disk is seen by no one.
class JsonSession final : public store_kit::CommitSession {
  public:
    JsonSession(JsonOptions options, store_memory::Tables& tables, std::shared_mutex& mutex)
        : options_(std::move(options)), tables_(tables), mutex_(mutex) {}

    ~JsonSession() override;

    // Before the first transaction.
    Result<void> Open(const Loaded& loaded);

    // Fails while what an earlier error left in the files cannot be put right.
    Result<void> Begin() override;
    store_kit::Transaction& NextBody() override;
    std::int64_t changes() const override {
        return static_cast<std::int64_t>(tables_.journal_size());
    }
    Result<void> Commit() override;
    void Rollback() override;
    bool Maintain(bool idle) override;

  private:
    Result<void> Persist(const store_memory::Tables::Journal& journal);
    Result<void> Settle();
    Result<void> WriteJobs();
    Result<void> RewriteLog();

    const JsonOptions options_;
    store_memory::Tables& tables_;
    std::shared_mutex& mutex_;  // of the tables
    SystemClock pace_;          // real time, whatever the options' clock is
    AppendFile log_;
    std::int64_t seq_ = 0;
    std::int64_t rewritten_size_ = 0;
    bool jobs_unsure_ = false;  // jobs.json may hold a change that was refused, or lack one
    Duration last_commit_{};
    std::optional<store_memory::MemoryTransaction> transaction_;
};

}  // namespace ksana::store_json
