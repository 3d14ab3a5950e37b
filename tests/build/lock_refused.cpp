// tests/build/CMakeLists.txt compiles this file with clang once for each case; clang must reject
// every case but `none`.

#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/process/shared_mutex.hpp"

namespace ksana {

class Account {
  public:
    void Add(int amount) {
        MutexLock lock(mutex_);
        balance_ += amount;
        AddLocked(amount);
        changed_.NotifyAll();
#if defined(CASE_after_unlock)
        lock.Unlock();
        balance_ += amount;
#elif defined(CASE_twice)
        const MutexLock again(mutex_);
#endif
    }

    void Await(int amount) {
        MutexLock lock(mutex_);
#if defined(CASE_predicate)
        changed_.Wait(lock, [&] { return balance_ >= amount; });
#else
        changed_.Wait(lock, [&]() KSANA_REQUIRES(mutex_) { return balance_ >= amount; });
#endif
    }

    int Rate() {
        const ReaderLock lock(rate_mutex_);
#if defined(CASE_reader_writes)
        rate_ = 1;
#endif
        return rate_;
    }

    void Move() {
#if defined(CASE_order)
        const MutexLock inner(mutex_);
        const MutexLock outer(moving_);
#else
        const MutexLock outer(moving_);
        const MutexLock inner(mutex_);
#endif
        balance_ = 0;
    }

#if defined(CASE_no_lock)
    int balance() const { return balance_; }
#elif defined(CASE_call)
    void AddTwice(int amount) { AddLocked(2 * amount); }
#elif defined(CASE_never_released)
    void Close() { mutex_.Lock(); }
#endif

  private:
    void AddLocked(int amount) KSANA_REQUIRES(mutex_) { balance_ += amount; }

    Mutex moving_ KSANA_ACQUIRED_BEFORE(mutex_);
    Mutex mutex_;
    CondVar changed_;
    int balance_ KSANA_GUARDED_BY(mutex_) = 0;
    SharedMutex rate_mutex_;
    int rate_ KSANA_GUARDED_BY(rate_mutex_) = 0;
};

}  // namespace ksana
