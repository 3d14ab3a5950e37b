#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/lock/lock_driver.hpp"
#include "support/etcd_server.hpp"

namespace ksana::locks {

using std::chrono::seconds;
using testing::EtcdOptions;
using testing::EtcdPost;
using testing::EtcdServer;
using testing::Eventually;
using testing::OpenEtcd;

// Returns a key that no other test uses.
inline std::string UniqueKey() {
    SystemRandom random;
    return "ksana-test:" + std::to_string(random.Next());
}

inline lock::LockRequest Request(const std::string& key, const std::string& token,
                                 Duration ttl = seconds(60),
                                 std::optional<std::int64_t> stamp = {}) {
    return {.key = key, .token = token, .ttl = ttl, .stamp = stamp};
}

// Returns the grant, or nothing if the lock was refused. Fails the test on an error.
inline std::optional<lock::Grant> Take(lock::LockDriver& driver, const lock::LockRequest& request) {
    const auto answer = driver.Try(request);
    EXPECT_TRUE(answer) << answer.error().Describe();
    return answer ? answer->grant : std::nullopt;
}

// Returns the code of a failure, and nothing for a success.
template <class T>
std::optional<Code> FaultOf(const Result<T>& result) {
    return result ? std::nullopt : std::optional(result.error().code);
}

}  // namespace ksana::locks
