#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/store_kit/driver/backend.hpp"
#include "ksana/store_sqlite/wire/session.hpp"

namespace ksana::store_sqlite {

// A pool of at most `size` read-only connections, opened at their first use. Owned by
// SqliteBackend. Thread-safe.
class ReaderPool {
  public:
    // `sums` must outlive the pool; null: nothing is checked.
    ReaderPool(std::string path, std::size_t size, Shared& shared, PageSums* sums = nullptr)
        : path_(std::move(path)), size_(size), shared_(shared), sums_(sums) {}

    // Runs `body` on the caller's thread, on one state of the database. Returns kUnavailable if no
    // connection becomes free in 10 s.
    Result<void> Read(const store_kit::Backend::ReadBody& body);

    // Calls `work` while there is no reader; new readers wait meanwhile. Returns false, without the
    // call, if the readers do not end within 100 ms.
    template <class F>
    bool WithoutReaders(const F& work) {
        MutexLock lock(mutex_);
        ++holds_;
        const bool quiet = AwaitQuiet(lock);
        if (quiet) work();
        --holds_;
        lock.Unlock();
        changed_.NotifyAll();
        return quiet;
    }

  private:
    Result<std::unique_ptr<Connection>> Acquire();
    void Release(std::unique_ptr<Connection> connection);
    Result<std::unique_ptr<Connection>> OpenOne() const;
    bool AwaitQuiet(MutexLock& lock) KSANA_REQUIRES(mutex_);

    const std::string path_;
    const std::size_t size_;
    Shared& shared_;
    PageSums* const sums_;
    Mutex mutex_;
    CondVar changed_;
    std::vector<std::unique_ptr<Connection>> free_ KSANA_GUARDED_BY(mutex_);
    std::size_t busy_ KSANA_GUARDED_BY(mutex_) = 0;
    // Number of WithoutReaders calls; readers wait unless 0.
    int holds_ KSANA_GUARDED_BY(mutex_) = 0;
};

}  // namespace ksana::store_sqlite
