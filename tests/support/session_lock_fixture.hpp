#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/base/time/fake_clock.hpp"
#include "ksana/lock/lock_driver.hpp"
#include "support/lock_holder.hpp"

// What the tests of locks that belong to a session of a database have in common: the same
// failures, of which each server has its own way. A driver's fixture derives from SessionLockTest.

namespace ksana::testing {

class SessionLockTest : public ::testing::Test {
  protected:
    static constexpr Duration kLong = std::chrono::seconds(60);

    // Opens a driver on the test server, as another process would. Fails the test on an error.
    virtual std::unique_ptr<lock::LockDriver> Open(const Clock& clock) = 0;
    std::unique_ptr<lock::LockDriver> Open() { return Open(clock_); }

    lock::LockRequest Request(const std::string& token, Duration ttl = kLong) const {
        return {.key = key_, .token = token, .ttl = ttl, .stamp = {}};
    }

    static std::optional<lock::Grant> Take(lock::LockDriver& driver,
                                           const lock::LockRequest& request) {
        const auto answer = driver.Try(request);
        if (!answer) ADD_FAILURE() << answer.error().Describe();
        return answer ? answer->grant : std::nullopt;
    }

    static Code CodeOf(const Result<lock::Grant>& result) {
        return result ? Code::kInternal : result.error().code;
    }
    static Code CodeOf(const Result<lock::TryAnswer>& result) {
        return result ? Code::kInternal : result.error().code;
    }

    // Tries until the lock is granted, at most for `time`.
    std::optional<lock::Grant> TakeWithin(Duration time, lock::LockDriver& driver,
                                          const lock::LockRequest& request) {
        const SteadyPoint until = clock_.SteadyNow() + time;
        Wakeup nothing;
        while (clock_.SteadyNow() < until) {
            const auto answer = driver.Try(request);
            if (answer && answer->grant) return answer->grant;
            clock_.Wait(nothing, clock_.SteadyNow() + std::chrono::milliseconds(20), {});
        }
        return std::nullopt;
    }

    // The lock of a process that is killed is free long before its TTL has passed.
    void CheckKilledHolder() {
        LockHolder holder([this] { return Open(); }, Request("held"));
        ASSERT_GT(holder.fence(), 0);
        const auto driver = Open();
        EXPECT_FALSE(Take(*driver, Request("next")));
        holder.Kill();
        const auto next = TakeWithin(std::chrono::seconds(20), *driver, Request("next"));
        ASSERT_TRUE(next);
        EXPECT_GT(next->fence, holder.fence());
    }

    // The server ends the session of a process that has stopped, which cannot do it itself. Its
    // connection stays open all the time.
    void CheckStoppedHolder(Duration ttl) {
        LockHolder holder([this] { return Open(); }, Request("held", ttl));
        holder.Stop();
        ASSERT_GT(holder.fence(), 0);
        const auto driver = Open();
        const auto next = TakeWithin(ttl + std::chrono::seconds(30), *driver, Request("next"));
        ASSERT_TRUE(next);
        EXPECT_GT(next->fence, holder.fence());
    }

    // The process's own clock decides nothing.
    void CheckWallClock() {
        FakeClock ahead;
        FakeClock behind;
        ahead.JumpWall(std::chrono::seconds(90));
        behind.JumpWall(-std::chrono::seconds(90));
        const auto first = Open(ahead);
        const auto second = Open(behind);
        const auto grant = Take(*first, Request("first"));
        ASSERT_TRUE(grant);
        EXPECT_FALSE(Take(*second, Request("second")));
        ahead.JumpWall(-std::chrono::seconds(180));
        behind.JumpWall(std::chrono::seconds(180));
        EXPECT_FALSE(Take(*second, Request("second")));
        EXPECT_TRUE(first->Renew(Request("first"), grant->fence));
        EXPECT_TRUE(first->Release(Request("first"), grant->fence));
        const auto next = Take(*second, Request("second"));
        ASSERT_TRUE(next);
        EXPECT_GT(next->fence, grant->fence);
    }

    SystemClock clock_;
    SystemRandom random_;
    const std::string key_ = "test:" + std::to_string(random_.Next());
};

}  // namespace ksana::testing
