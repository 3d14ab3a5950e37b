#include "ksana/store_memory/memory_backend.hpp"

#include "ksana/base/process/shared_mutex.hpp"
#include "ksana/store_memory/memory_transaction.hpp"
#include "ksana/store_memory/tables.hpp"

namespace ksana::store_memory {
namespace {

// Write holds the lock exclusively and undoes a failed body; Read shares it. Publishes changes
// after it has released the lock. Thread-safe.
class MemoryBackend final : public store_kit::Backend {
  public:
    explicit MemoryBackend(Clock& clock) : clock_(clock) {}

    Result<void> Write(const WriteBody& body) override {
        store::Topics touched;
        {
            const WriterLock lock(mutex_);
            MemoryTransaction tx(clock_, tables_);
            Result<void> done = body(tx);
            Tables::Journal journal = tables_.TakeJournal();
            if (!done) {
                tables_.TakeBack(std::move(journal));
                return done;
            }
            touched = tx.touched();
        }
        changes_.Publish(touched);
        return {};
    }

    Result<void> Read(const ReadBody& body) override {
        const ReaderLock lock(mutex_);
        TableReader<store_kit::Reader> reader(clock_, tables_);
        return body(reader);
    }

    store::ChangeFeed& changes() override { return changes_; }

    Result<store::StoreInfo> Info() override {
        return store::StoreInfo{.driver = "memory", .location = "this process"};
    }

  private:
    Clock& clock_;
    SharedMutex mutex_;
    Tables tables_ KSANA_GUARDED_BY(mutex_);
    store::ChangeFeed changes_;
};

}  // namespace

std::unique_ptr<store_kit::Backend> OpenMemory(Clock& clock) {
    return std::make_unique<MemoryBackend>(clock);
}

}  // namespace ksana::store_memory
