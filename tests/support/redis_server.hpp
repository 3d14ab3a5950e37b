#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ksana/base/time/clock.hpp"
#include "ksana/lock_redis/redis_locks.hpp"
#include "ksana/lock_redis/wire/connection.hpp"
#include "support/temporary_folder.hpp"

namespace ksana::testing {

// Returns the servers that ./dev has started for the tests, of the environment variable: one in
// KSANA_TEST_REDIS, one with TLS in KSANA_TEST_REDIS_TLS, three in KSANA_TEST_REDIS_MAJORITY. Fails
// the test if there are none: a skipped test proves nothing.
std::vector<lock_redis::RedisServer> RedisServers(const char* variable);

// A Redis of one test, which the test may break. The destructor ends it. Owned by the test; one
// thread.
class PrivateRedis {
  public:
    // `options` as for start_redis.sh: "--tls", "--requirepass secret".
    explicit PrivateRedis(std::string options = "");
    ~PrivateRedis();
    PrivateRedis(const PrivateRedis&) = delete;
    PrivateRedis& operator=(const PrivateRedis&) = delete;

    const lock_redis::RedisServer& server() const { return server_; }

    // Runs a command on a connection of its own. Fails the test if there is no answer.
    lock_redis::Reply Run(const std::vector<std::string>& words);

    void Pause();     // the process stands still (SIGSTOP)
    void Continue();  // and goes on
    void Kill();      // the process ends at once
    void Restart();   // on the same port, without its data

  private:
    void Start();
    void Signal(int number) const;

    test::TemporaryFolder folder_;
    std::string options_;
    lock_redis::RedisServer server_;
    bool started_ = false;
};

// Runs a command on a new connection to a server.
lock_redis::Reply RunRedis(const lock_redis::RedisServer& server,
                           const std::vector<std::string>& words);

}  // namespace ksana::testing
