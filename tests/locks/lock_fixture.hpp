#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/lock/lock_driver.hpp"

namespace ksana::locks {

// One kind of lock server, for the suite that every driver runs (*_topic.cpp). A driver has one
// file that instantiates LockTest with its kind.
struct LockKind {
    std::string name;
    // Opens a driver on the same server each time, as another process would.
    std::function<std::unique_ptr<lock::LockDriver>()> open;
    // The shortest TTL that the server applies as asked. Tests of expiry use it.
    Duration shortest_ttl = std::chrono::milliseconds(200);
    // Lets that much time pass for the server's clock. Empty: the suite waits for the expiry itself
    // by trying again.
    std::function<void(Duration)> advance;
    // Called before and after each test, for a server that one test has for itself. May be empty:
    // tests share a server, as their keys differ.
    std::function<void()> begin;
    std::function<void()> end;
};

inline void PrintTo(const LockKind& kind, std::ostream* out) { *out << kind.name; }

// Tests run in parallel on the same server, so every test makes its keys with Key.
class LockTest : public ::testing::TestWithParam<LockKind> {
  protected:
    static constexpr Duration kLong = std::chrono::seconds(60);

    void SetUp() override {
        if (GetParam().begin) GetParam().begin();
        driver_ = Open();
        other_ = Open();
        ASSERT_TRUE(driver_ && other_);
    }
    void TearDown() override {
        driver_.reset();
        other_.reset();
        if (GetParam().end) GetParam().end();
    }

    std::unique_ptr<lock::LockDriver> Open() const { return GetParam().open(); }
    static Duration ShortTtl() { return GetParam().shortest_ttl; }

    // Returns a key that no other test uses, also not one in another process.
    std::string Key(std::string_view name) const {
        return "ksana-test:" + unique_ + ":" + std::string(name);
    }
    lock::LockRequest Request(std::string_view name, std::string_view token,
                              Duration ttl = kLong) const {
        return {.key = Key(name), .token = std::string(token), .ttl = ttl, .stamp = {}};
    }
    lock::LockRequest Stamped(std::string_view name, std::string_view token,
                              std::int64_t stamp) const {
        lock::LockRequest request = Request(name, token);
        request.stamp = stamp;
        return request;
    }

    // Returns the grant, or nothing if the lock was refused. Fails the test on an error.
    static std::optional<lock::Grant> Take(lock::LockDriver& driver,
                                           const lock::LockRequest& request) {
        const auto answer = driver.Try(request);
        if (!answer) {
            ADD_FAILURE() << answer.error().Describe();
            return {};
        }
        if (!answer->grant) return {};
        EXPECT_GT(answer->grant->fence, 0);
        EXPECT_GT(answer->grant->valid_for, Duration::zero());
        EXPECT_LE(answer->grant->valid_for, request.ttl);
        return answer->grant;
    }

    // Tries until the lock, which another token holds for at most `ttl`, has expired. Fails the
    // test if it does not.
    std::optional<lock::Grant> TakeAfter(Duration ttl, lock::LockDriver& driver,
                                         const lock::LockRequest& request) {
        if (GetParam().advance) {
            GetParam().advance(ttl);
            const auto grant = Take(driver, request);
            EXPECT_TRUE(grant) << "the lock did not expire";
            return grant;
        }
        const SteadyPoint deadline = clock_.SteadyNow() + ttl + std::chrono::seconds(30);
        Wakeup nothing;
        while (clock_.SteadyNow() < deadline) {
            if (const auto grant = Take(driver, request)) return grant;
            clock_.Wait(nothing, clock_.SteadyNow() + std::chrono::milliseconds(10), {});
        }
        ADD_FAILURE() << "the lock did not expire";
        return {};
    }

    // Two drivers on the same server.
    std::unique_ptr<lock::LockDriver> driver_;
    std::unique_ptr<lock::LockDriver> other_;
    SystemClock clock_;

  private:
    static std::string UniqueText() {
        SystemRandom random;
        return std::to_string(random.Next());
    }
    const std::string unique_ = UniqueText();
};

}  // namespace ksana::locks
