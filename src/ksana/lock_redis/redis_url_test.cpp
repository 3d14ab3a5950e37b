#include <gtest/gtest.h>

#include "ksana/base/time/clock.hpp"
#include "ksana/lock_redis/redis_locks.hpp"
#include "ksana/lock_redis/scripts.hpp"

namespace ksana::lock_redis {
namespace {

TEST(RedisUrl, ReadsEveryPart) {
    const auto plain = ParseRedisUrl("redis://cache");
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->Name(), "redis://cache:6379");
    EXPECT_FALSE(plain->tls);
    const auto full = ParseRedisUrl("rediss://me:p%40ss:%2F@[::1]:7000/3?ca_file=/etc/my%20ca.pem");
    ASSERT_TRUE(full) << full.error().Describe();
    EXPECT_EQ(full->user, "me");
    EXPECT_EQ(full->password, "p@ss:/");
    EXPECT_EQ(full->host, "::1");
    EXPECT_EQ(full->port, 7000);
    EXPECT_EQ(full->database, 3);
    EXPECT_TRUE(full->tls);
    EXPECT_EQ(full->ca_file, "/etc/my ca.pem");
    EXPECT_EQ(full->Name(), "rediss://[::1]:7000/3") << "no secrets";
    const auto no_user = ParseRedisUrl("redis://:secret@h:1/");
    ASSERT_TRUE(no_user);
    EXPECT_EQ(no_user->user, "");
    EXPECT_EQ(no_user->password, "secret");
}

TEST(RedisUrl, RefusesWhatItDoesNotUnderstand) {
    for (const char* const url :
         {"", "http://h", "redis://", "redis://:1", "redis://h:", "redis://h:0", "redis://h:70000",
          "redis://h:1x", "redis://h/x", "redis://h/-1", "redis://[::1", "redis://[::1]x",
          "redis://secret@h", "redis://me:@h", "redis://me:%zz@h", "redis://me:%-1@h",
          "redis://me:secret%4@h", "redis://h?x=secret", "redis://h?ca_file=/x"}) {
        const auto server = ParseRedisUrl(url);
        ASSERT_FALSE(server) << url;
        EXPECT_EQ(server.error().code, Code::kInvalidArgument);
        EXPECT_EQ(server.error().message.find("secret"), std::string::npos);
    }
}

TEST(OpenRedis, RefusesOptionsThatCannotWork) {
    const SystemClock clock;
    const RedisServer server;
    EXPECT_FALSE(OpenRedisLocks({.servers = {}, .clock = clock}));
    EXPECT_FALSE(OpenRedisLocks({.servers = {server, server}, .clock = clock}));
    EXPECT_FALSE(OpenRedisLocks({.servers = {server}, .clock = clock, .timeout = {}}));
    RedisServer tls = server;
    tls.tls = true;
    tls.ca_file = "/nonexistent.pem";
    const auto opened = OpenRedisLocks({.servers = {tls}, .clock = clock});
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().message.find("/nonexistent.pem"), std::string::npos);
}

TEST(RedisScripts, TheTwoKeysAreInOneSlot) {
    EXPECT_EQ(StateKey("a"), "{a}:state");
    EXPECT_EQ(StateKey("x{a}y"), "x{a}y:state");
    EXPECT_EQ(StateKey("x{y"), "{x{y}:state");
}

TEST(RedisScripts, ATtlHasWholeMilliseconds) {
    EXPECT_EQ(AppliedTtl(Duration(1)).count(), 1);
    EXPECT_EQ(AppliedTtl(Duration(1001)).count(), 2);
    EXPECT_EQ(AppliedTtl(std::chrono::seconds(30)).count(), 30'000);
    EXPECT_LT(AppliedTtl(Duration::max()), std::chrono::hours(24 * 366 * 100));
}

}  // namespace
}  // namespace ksana::lock_redis
