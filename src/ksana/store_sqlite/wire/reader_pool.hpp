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

// Connections that only read, opened when they are first needed. Thread-safe.
class ReaderPool {
  public:
    ReaderPool(std::string path, std::size_t size, Shared& shared)
        : path_(std::move(path)), size_(size), shared_(shared) {}

    // Runs `body` on one state of the database. kUnavailable when no connection gets free in time.
    Result<void> Read(const store_kit::Backend::ReadBody& body);

    // Calls `work` while nobody reads; new readers wait meanwhile. False, without a call, when the
    // readers do not end in time.
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
    Mutex mutex_;
    CondVar changed_;
    std::vector<std::unique_ptr<Connection>> free_ KSANA_GUARDED_BY(mutex_);
    std::size_t busy_ KSANA_GUARDED_BY(mutex_) = 0;
    int holds_ KSANA_GUARDED_BY(mutex_) = 0;  // readers wait
};

}  // namespace ksana::store_sqlite
