#pragma once

#include <mutex>

// What clang checks with -Wthread-safety (`./dev check`): which lock a member needs, and which
// functions need, take or give back a lock. Nothing for g++.
#if defined(__clang__)
#define KSANA_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define KSANA_THREAD_ATTRIBUTE(x)
#endif

// Of a member: read and written only with the lock held; the second is for what a pointer points
// to.
#define KSANA_GUARDED_BY(mutex) KSANA_THREAD_ATTRIBUTE(guarded_by(mutex))
#define KSANA_PT_GUARDED_BY(mutex) KSANA_THREAD_ATTRIBUTE(pt_guarded_by(mutex))

// Of a mutex: the order in which two of them are taken.
#define KSANA_ACQUIRED_BEFORE(...) KSANA_THREAD_ATTRIBUTE(acquired_before(__VA_ARGS__))
#define KSANA_ACQUIRED_AFTER(...) KSANA_THREAD_ATTRIBUTE(acquired_after(__VA_ARGS__))

// Of a function or a lambda: the caller holds the lock, or does not hold it.
#define KSANA_REQUIRES(...) KSANA_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define KSANA_REQUIRES_SHARED(...) KSANA_THREAD_ATTRIBUTE(requires_shared_capability(__VA_ARGS__))
#define KSANA_EXCLUDES(...) KSANA_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))

// Of a function: takes the lock, or gives it back; without an argument its own object is the lock.
#define KSANA_ACQUIRE(...) KSANA_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define KSANA_ACQUIRE_SHARED(...) KSANA_THREAD_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define KSANA_TRY_ACQUIRE(...) KSANA_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define KSANA_RELEASE(...) KSANA_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define KSANA_RELEASE_SHARED(...) KSANA_THREAD_ATTRIBUTE(release_shared_capability(__VA_ARGS__))
#define KSANA_RELEASE_GENERIC(...) KSANA_THREAD_ATTRIBUTE(release_generic_capability(__VA_ARGS__))

// Of a function: the lock is held, though the check cannot see where it was taken.
#define KSANA_ASSERT_CAPABILITY(...) KSANA_THREAD_ATTRIBUTE(assert_capability(__VA_ARGS__))

// Of a function: returns a reference to the lock named.
#define KSANA_RETURN_CAPABILITY(mutex) KSANA_THREAD_ATTRIBUTE(lock_returned(mutex))

// Of a class: is a lock; takes a lock in its constructor and gives it back in its destructor.
#define KSANA_CAPABILITY(name) KSANA_THREAD_ATTRIBUTE(capability(name))
#define KSANA_SCOPED_CAPABILITY KSANA_THREAD_ATTRIBUTE(scoped_lockable)

// Of a function: not checked. A comment at the function says why it is right all the same.
#define KSANA_NO_THREAD_SAFETY_ANALYSIS KSANA_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace ksana {

// std::mutex, known to the check. Use MutexLock; Lock and Unlock are for a lock that is taken in
// one function and given back in another.
class KSANA_CAPABILITY("mutex") Mutex {
  public:
    Mutex() = default;
    Mutex(const Mutex&) = delete;
    Mutex& operator=(const Mutex&) = delete;

    void Lock() KSANA_ACQUIRE() { mutex_.lock(); }
    void Unlock() KSANA_RELEASE() { mutex_.unlock(); }

  private:
    friend class MutexLock;

    std::mutex mutex_;
};

// Holds a Mutex from its construction to its destruction; Unlock and Lock interrupt that. One
// thread.
class KSANA_SCOPED_CAPABILITY MutexLock {
  public:
    explicit MutexLock(Mutex& mutex) KSANA_ACQUIRE(mutex) : lock_(mutex.mutex_) {}
    ~MutexLock() KSANA_RELEASE() = default;
    MutexLock(const MutexLock&) = delete;
    MutexLock& operator=(const MutexLock&) = delete;

    void Unlock() KSANA_RELEASE() { lock_.unlock(); }
    void Lock() KSANA_ACQUIRE() { lock_.lock(); }

  private:
    friend class CondVar;
    friend class StopCondVar;

    std::unique_lock<std::mutex> lock_;
};

}  // namespace ksana
