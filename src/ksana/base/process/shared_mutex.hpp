#pragma once

#include <shared_mutex>

#include "ksana/base/process/mutex.hpp"

namespace ksana {

// std::shared_mutex, known to the check: many readers or one writer. Use ReaderLock and WriterLock;
// Lock and Unlock are for a writer's lock that is taken in one function and given back in another.
class KSANA_CAPABILITY("shared mutex") SharedMutex {
  public:
    SharedMutex() = default;
    SharedMutex(const SharedMutex&) = delete;
    SharedMutex& operator=(const SharedMutex&) = delete;

    void Lock() KSANA_ACQUIRE() { mutex_.lock(); }
    void Unlock() KSANA_RELEASE() { mutex_.unlock(); }
    void LockShared() KSANA_ACQUIRE_SHARED() { mutex_.lock_shared(); }
    void UnlockShared() KSANA_RELEASE_SHARED() { mutex_.unlock_shared(); }
    // Tells the check that this thread holds it for writing; does nothing.
    void AssertHeld() const KSANA_ASSERT_CAPABILITY(this) {}

  private:
    std::shared_mutex mutex_;
};

// Holds a SharedMutex for reading, from its construction to its destruction.
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

// Holds a SharedMutex for writing, from its construction to its destruction.
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
