#include "ksana/store_memory/memory_backend.hpp"

#include <mutex>
#include <shared_mutex>

#include "ksana/store_memory/memory_transaction.hpp"
#include "ksana/store_memory/tables.hpp"

namespace ksana::store_memory {
namespace {

class MemoryBackend final : public store_kit::Backend {
  public:
    explicit MemoryBackend(Clock& clock) : clock_(clock) {}

    Result<void> Write(const WriteBody& body) override {
        MemoryTransaction tx(clock_, tables_);
        {
            const std::lock_guard lock(mutex_);
            Result<void> done = body(tx);
            Tables::Journal journal = tables_.TakeJournal();
            if (!done) {
                tables_.TakeBack(std::move(journal));
                return done;
            }
        }
        changes_.Publish(tx.touched());
        return {};
    }

    Result<void> Read(const ReadBody& body) override {
        const std::shared_lock lock(mutex_);
        TableReader<store_kit::Reader> reader(clock_, tables_);
        return body(reader);
    }

    store::ChangeFeed& changes() override { return changes_; }

    Result<store::StoreInfo> Info() override {
        return store::StoreInfo{.driver = "memory", .location = "this process"};
    }

  private:
    Clock& clock_;
    std::shared_mutex mutex_;
    Tables tables_;  // guarded by mutex_
    store::ChangeFeed changes_;
};

}  // namespace

std::unique_ptr<store_kit::Backend> OpenMemory(Clock& clock) {
    return std::make_unique<MemoryBackend>(clock);
}

}  // namespace ksana::store_memory
