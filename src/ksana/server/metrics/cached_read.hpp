#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"

namespace ksana::server {

// What scrapes read from the store, however many metrics it feeds and however often somebody
// scrapes: it is read again after kFresh, and after kRarer times as long as the last reading took,
// so that readings take at most one part in kRarer of a thread's time. Thread-safe.
template <class T>
class CachedRead {
  public:
    static constexpr Duration kFresh = std::chrono::seconds(2);
    static constexpr int kRarer = 50;

    // `clock` must outlive the object. `read` is called on a scraping thread, which waits for it.
    CachedRead(const Clock& clock, std::function<Result<T>()> read)
        : clock_(clock), read_(std::move(read)) {}

    // Returns null if the last reading failed.
    std::shared_ptr<const T> Get() {
        const MutexLock lock(mutex_);
        const SteadyPoint began = clock_.SteadyNow();
        if (again_at_ && began < *again_at_) return value_;
        auto value = read_();
        const SteadyPoint ended = clock_.SteadyNow();
        again_at_ = ended + std::max<SteadyPoint::duration>(kFresh, kRarer * (ended - began));
        value_ = value ? std::make_shared<const T>(*std::move(value)) : nullptr;
        return value_;
    }

  private:
    const Clock& clock_;
    const std::function<Result<T>()> read_;
    Mutex mutex_;
    std::shared_ptr<const T> value_ KSANA_GUARDED_BY(mutex_);
    std::optional<SteadyPoint> again_at_ KSANA_GUARDED_BY(mutex_);  // none: never read
};

}  // namespace ksana::server
