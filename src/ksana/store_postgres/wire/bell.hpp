#pragma once

#include <semaphore.h>

#include <cerrno>
#include <chrono>
#include <ctime>

#include "ksana/base/error/check.hpp"
#include "ksana/base/time/time.hpp"

namespace ksana::store_postgres {

// Lets one thread wait until another thread rings. Unlike a condition variable it needs no mutex,
// which the woken thread would find locked, and the waiting thread may destroy the bell as soon as
// it is woken (sem_post(3) does not touch it any more). std::binary_semaphore of GCC 12 can miss a
// ring. Lives on the stack of the waiting thread; Ring may be called from any thread.
class Bell {
  public:
    Bell() { KSANA_CHECK(sem_init(&rings_, 0, 0) == 0, "sem_init"); }
    ~Bell() { sem_destroy(&rings_); }
    Bell(const Bell&) = delete;
    Bell& operator=(const Bell&) = delete;

    void Ring() { KSANA_CHECK(sem_post(&rings_) == 0, "sem_post"); }

    void Await() {
        while (sem_wait(&rings_) != 0) KSANA_CHECK(errno == EINTR, "sem_wait");
    }

    // Returns false if the bell has not rung by `instant`.
    bool AwaitUntil(SteadyPoint instant) {
        const auto since = instant.time_since_epoch();
        const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
        const timespec until{
            .tv_sec = seconds.count(),
            .tv_nsec =
                std::chrono::duration_cast<std::chrono::nanoseconds>(since - seconds).count()};
        while (sem_clockwait(&rings_, CLOCK_MONOTONIC, &until) != 0) {
            if (errno == ETIMEDOUT) return false;
            KSANA_CHECK(errno == EINTR, "sem_clockwait");
        }
        return true;
    }

  private:
    sem_t rings_;
};

}  // namespace ksana::store_postgres
