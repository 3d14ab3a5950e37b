#pragma once

#include <mutex>

// Annotations for clang's -Wthread-safety (`./dev check`): which lock a member needs, and which
// functions require, acquire or release a lock. They expand to nothing with g++.
#if defined(__clang__)
#define KSANA_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define KSANA_THREAD_ATTRIBUTE(x)
#endif

// For a member: access requires the lock; the PT variant is about the object that a pointer member
// points to.
#define KSANA_GUARDED_BY(mutex) KSANA_THREAD_ATTRIBUTE(guarded_by(mutex))
#define KSANA_PT_GUARDED_BY(mutex) KSANA_THREAD_ATTRIBUTE(pt_guarded_by(mutex))

// For a mutex: the order in which two of them are acquired.
#define KSANA_ACQUIRED_BEFORE(...) KSANA_THREAD_ATTRIBUTE(acquired_before(__VA_ARGS__))
#define KSANA_ACQUIRED_AFTER(...) KSANA_THREAD_ATTRIBUTE(acquired_after(__VA_ARGS__))

// For a function or a lambda: the caller must hold the lock, or must not hold it.
#define KSANA_REQUIRES(...) KSANA_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define KSANA_REQUIRES_SHARED(...) KSANA_THREAD_ATTRIBUTE(requires_shared_capability(__VA_ARGS__))
#define KSANA_EXCLUDES(...) KSANA_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))

// For a function: acquires or releases the lock; without an argument, `this` is the lock.
#define KSANA_ACQUIRE(...) KSANA_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define KSANA_ACQUIRE_SHARED(...) KSANA_THREAD_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define KSANA_TRY_ACQUIRE(...) KSANA_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define KSANA_RELEASE(...) KSANA_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define KSANA_RELEASE_SHARED(...) KSANA_THREAD_ATTRIBUTE(release_shared_capability(__VA_ARGS__))
#define KSANA_RELEASE_GENERIC(...) KSANA_THREAD_ATTRIBUTE(release_generic_capability(__VA_ARGS__))

// For a function: the lock is held, though the analysis cannot see where it was acquired.
#define KSANA_ASSERT_CAPABILITY(...) KSANA_THREAD_ATTRIBUTE(assert_capability(__VA_ARGS__))

// For a function: returns a reference to the named lock.
#define KSANA_RETURN_CAPABILITY(mutex) KSANA_THREAD_ATTRIBUTE(lock_returned(mutex))

// For a class: it is a lock; or it acquires a lock in its constructor and releases it in its
// destructor.
#define KSANA_CAPABILITY(name) KSANA_THREAD_ATTRIBUTE(capability(name))
#define KSANA_SCOPED_CAPABILITY KSANA_THREAD_ATTRIBUTE(scoped_lockable)

// For a function: not analysed. A comment at the function must explain why it is correct.
#define KSANA_NO_THREAD_SAFETY_ANALYSIS KSANA_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace ksana {

// std::mutex with annotations. Use MutexLock; Lock and Unlock are for a lock that is acquired in
// one function and released in another.
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

// Holds a Mutex from construction to destruction; Unlock releases it in between and Lock reacquires
// it. For use by one thread.
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
