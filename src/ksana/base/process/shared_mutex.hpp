#pragma once

#include <shared_mutex>

#include "ksana/base/process/mutex.hpp"

namespace ksana {

// std::shared_mutex with annotations: many readers or one writer. Use ReaderLock and WriterLock;
// Lock and Unlock are for a writer lock that is acquired in one function and released in another.
class KSANA_CAPABILITY("shared mutex") SharedMutex {
  public:
    SharedMutex() = default;
    SharedMutex(const SharedMutex&) = delete;
    SharedMutex& operator=(const SharedMutex&) = delete;

    void Lock() KSANA_ACQUIRE() { mutex_.lock(); }
    void Unlock() KSANA_RELEASE() { mutex_.unlock(); }
    void LockShared() KSANA_ACQUIRE_SHARED() { mutex_.lock_shared(); }
    void UnlockShared() KSANA_RELEASE_SHARED() { mutex_.unlock_shared(); }
    // Tells the analysis that the calling thread holds the lock for writing. Has no effect at run
    // time.
    void AssertHeld() const KSANA_ASSERT_CAPABILITY(this) {}

  private:
    std::shared_mutex mutex_;
};

// Holds a SharedMutex for reading, from construction to destruction.
class KSANA_SCOPED_CAPABILITY ReaderLock {
  public:
    explicit ReaderLock(SharedMutex& mutex) KSANA_ACQUIRE_SHARED(mutex) : mutex_(mutex) {
        mutex_.LockShared();
    }
    ~ReaderLock() KSANA_RELEASE_GENERIC() { mutex_.UnlockShared(); }
    ReaderLock(const ReaderLock&) = delete;
    ReaderLock& operator=(const ReaderLock&) = delete;

  private:
    SharedMutex& mutex_;
};

// Holds a SharedMutex for writing, from construction to destruction.
class KSANA_SCOPED_CAPABILITY WriterLock {
  public:
    explicit WriterLock(SharedMutex& mutex) KSANA_ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
    ~WriterLock() KSANA_RELEASE() { mutex_.Unlock(); }
    WriterLock(const WriterLock&) = delete;
    WriterLock& operator=(const WriterLock&) = delete;

  private:
    SharedMutex& mutex_;
};

}  // namespace ksana
