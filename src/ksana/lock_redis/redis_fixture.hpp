#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/time/clock.hpp"
#include "ksana/lock_redis/redis_locks.hpp"
#include "support/redis_server.hpp"

namespace ksana::lock_redis {

// Drivers on servers that belong to the test.
class RedisTest : public ::testing::Test {
  protected:
    static constexpr Duration kLong = std::chrono::seconds(60);

    static lock::LockRequest Request(std::string token, Duration ttl = kLong) {
        return {.key = "job:1", .token = std::move(token), .ttl = ttl, .stamp = {}};
    }
    static lock::LockRequest Stamped(std::string token, std::int64_t stamp) {
        lock::LockRequest request = Request(std::move(token));
        request.stamp = stamp;
        return request;
    }

    std::unique_ptr<lock::LockDriver> Open(std::vector<RedisServer> servers,
                                           Duration timeout = std::chrono::seconds(10)) {
        auto opened =
            OpenRedisLocks({.servers = std::move(servers), .clock = clock_, .timeout = timeout});
        if (opened) return *std::move(opened);
        ADD_FAILURE() << opened.error().Describe();
        return nullptr;
    }

    // Returns the grant, or nothing if the lock was refused. Fails the test on an error.
    static std::optional<lock::Grant> Take(lock::LockDriver& driver,
                                           const lock::LockRequest& request) {
        const auto answer = driver.Try(request);
        if (answer) return answer->grant;
        ADD_FAILURE() << answer.error().Describe();
        return {};
    }

    // Tries until the lock is granted, for 30 s at most.
    std::optional<lock::Grant> TakeSoon(lock::LockDriver& driver,
                                        const lock::LockRequest& request) {
        const SteadyPoint deadline = clock_.SteadyNow() + std::chrono::seconds(30);
        Wakeup nothing;
        while (clock_.SteadyNow() < deadline) {
            const auto answer = driver.Try(request);
            if (answer && answer->grant) return answer->grant;
            clock_.Wait(nothing, clock_.SteadyNow() + std::chrono::milliseconds(10), {});
        }
        ADD_FAILURE() << "the lock was not granted";
        return {};
    }

    // The code of a failure; kInternal if there is none.
    template <class T>
    static Code CodeOf(const Result<T>& result) {
        return result ? Code::kInternal : result.error().code;
    }

    SystemClock clock_;
};

}  // namespace ksana::lock_redis
