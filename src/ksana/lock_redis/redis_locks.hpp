#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ksana/base/time/clock.hpp"
#include "ksana/lock/lock_driver.hpp"
#include "ksana/lock/lock_url.hpp"

namespace ksana::lock_redis {

// Its certificate, with TLS, must be valid for `host`.
using RedisServer = lock::LockServer;

// Without secrets: "redis://127.0.0.1:6379/2".
std::string NameOf(const RedisServer& server);

struct RedisLockOptions {
    // Several: independent servers, not replicas of each other. A lock is held if more than half of
    // them granted it, so that it survives the loss of fewer than half. All processes must name
    // them in the same order: two that ask for the same lock then meet at the first one.
    std::vector<RedisServer> servers;
    const Clock& clock;  // must outlive the driver; only its steady time is used
    // For one call to a server, with connecting. Looking up a host name is not included. Of several
    // servers each gets a fifth of the TTL at most, and one that failed is left out for a second.
    Duration timeout = std::chrono::seconds(1);
};

// Connects with the first call. Returns kInvalidArgument for options that cannot work (no server,
// one server twice, a CA file that cannot be read), kUnimplemented if hiredis is not installed.
//
// Needs Redis 5 or later, or a server that behaves like it. What other people's keys do: a string
// at the key of a lock is a lock of somebody else; another type is kConflict. Errors of the server
// (LOADING, READONLY, NOAUTH, OOM, …) are kUnavailable with its text. A Try without an answer may
// leave the lock taken for its TTL; the same token gets it then.
Result<std::unique_ptr<lock::LockDriver>> OpenRedisLocks(RedisLockOptions options);

}  // namespace ksana::lock_redis
