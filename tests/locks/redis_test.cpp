#include "ksana/lock_redis/redis_locks.hpp"
#include "locks/lock_fixture.hpp"
#include "support/redis_server.hpp"

// G-07: the suite on one server, on a majority of three, and over TLS.

namespace ksana::locks {
namespace {

std::unique_ptr<lock::LockDriver> OpenOn(const char* variable) {
    static const SystemClock clock;
    auto opened = lock_redis::OpenRedisLocks({.servers = testing::RedisServers(variable),
                                              .clock = clock,
                                              .timeout = std::chrono::seconds(10)});
    if (opened) return *std::move(opened);
    ADD_FAILURE() << opened.error().Describe();
    return nullptr;
}

LockKind Kind(const char* name, const char* variable, Duration shortest_ttl) {
    return {.name = name,
            .open = [variable] { return OpenOn(variable); },
            .shortest_ttl = shortest_ttl,
            .advance = {},
            .begin = {},
            .end = {}};
}

INSTANTIATE_TEST_SUITE_P(
    Redis, LockTest,
    ::testing::Values(Kind("one", "KSANA_TEST_REDIS", std::chrono::milliseconds(200)),
                      // Each server has a fifth of the TTL to answer, on a busy machine too.
                      Kind("majority", "KSANA_TEST_REDIS_MAJORITY", std::chrono::seconds(1)),
                      Kind("tls", "KSANA_TEST_REDIS_TLS", std::chrono::milliseconds(200))),
    [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace ksana::locks
