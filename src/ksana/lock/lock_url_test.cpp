#include "ksana/lock/lock_url.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ksana::lock {
namespace {

LockUrl Parse(std::string_view text) {
    auto url = ParseLockUrl(text);
    EXPECT_TRUE(url) << text << ": " << url.error().message;
    return url ? *url : LockUrl{};
}

std::string Refusal(std::string_view text) {
    const auto url = ParseLockUrl(text);
    EXPECT_FALSE(url) << text;
    if (url) return "";
    EXPECT_EQ(url.error().code, Code::kInvalidArgument);
    EXPECT_EQ(url.error().message.find("s3cr"), std::string::npos) << url.error().message;
    return url.error().message;
}

bool Refuses(std::string_view text, std::string_view why) {
    const std::string refusal = Refusal(text);
    EXPECT_NE(refusal.find(why), std::string::npos) << text << ": " << refusal;
    return refusal.find(why) != std::string::npos;
}

std::string Shown(std::string_view text) { return ShownUrl(Parse(text)); }

LockServer Server(const std::string& host, int port) {
    return {.host = host, .port = static_cast<std::uint16_t>(port)};
}

TEST(LockUrl, EveryKindIsRead) {
    for (const char* text : {"store", "store:"}) EXPECT_EQ(Parse(text), LockUrl{});
    for (const char* text : {"memory", "memory:"}) {
        EXPECT_EQ(Parse(text), LockUrl{.kind = LockKind::kMemory});
    }
    EXPECT_EQ(Parse("redis://h"),
              (LockUrl{.kind = LockKind::kRedis, .servers = {Server("h", 6379)}}));
    EXPECT_EQ(Parse("etcd://127.0.0.1:99"),
              (LockUrl{.kind = LockKind::kEtcd, .servers = {Server("127.0.0.1", 99)}}));
    LockServer maria = Server("h", 3306);
    maria.user = "u";
    const LockUrl mariadb{.kind = LockKind::kMariadb, .servers = {maria}, .database = "db"};
    EXPECT_EQ(Parse("mariadb://u@h/db"), mariadb);
    EXPECT_EQ(Parse("mysql://u@h/db"), mariadb);
    for (const std::string url :
         {"postgres://h/db", "postgresql://u:p@h:5432/db?sslmode=require"}) {
        EXPECT_EQ(Parse(url), (LockUrl{.kind = LockKind::kPostgres, .location = url}));
    }
}

TEST(LockUrl, AllPartsOfAServerAreRead) {
    const LockUrl url = Parse("rediss://us%40er:pa%2Fss%3A@[::1]:7000/12?ca_file=/etc/ca%20.pem");
    ASSERT_EQ(url.servers.size(), 1U);
    EXPECT_EQ(url.servers[0], (LockServer{.host = "::1",
                                          .port = 7000,
                                          .user = "us@er",
                                          .password = "pa/ss:",
                                          .database = 12,
                                          .tls = true,
                                          .ca_file = "/etc/ca .pem"}));
    EXPECT_EQ(Parse("redis://:pw@h").servers[0].password, "pw");
    EXPECT_EQ(Parse("redis://h/").servers[0].database, 0);
    EXPECT_EQ(Parse("mariadb://u:p%25@h:1/d%2Fb").database, "d/b");
    EXPECT_TRUE(Parse("etcds://u:p@h").servers[0].tls);
}

TEST(LockUrl, SeveralServersAreRead) {
    const LockUrl etcd = Parse("etcd://u:p@a,b:1,[fe80::1]");
    ASSERT_EQ(etcd.servers.size(), 3U);
    for (const LockServer& server : etcd.servers) {
        EXPECT_EQ(server.user, "u");
        EXPECT_EQ(server.password, "p");
    }
    EXPECT_EQ(etcd.servers[1].port, 1);
    EXPECT_EQ(etcd.servers[2].host, "fe80::1");
    const LockUrl redis = Parse("redis://:p@a,b:7/3");
    ASSERT_EQ(redis.servers.size(), 2U);
    for (const LockServer& server : redis.servers) EXPECT_EQ(server.database, 3);
    const LockUrl whole = Parse("redis://:p@a/1,rediss://b:7,redis://a:7,c/2");
    ASSERT_EQ(whole.servers.size(), 4U);
    EXPECT_EQ(whole.servers[0].database, 1);
    EXPECT_TRUE(whole.servers[1].tls);
    EXPECT_TRUE(whole.servers[1].password.empty());
    EXPECT_EQ(whole.servers[2].database, 2);
    EXPECT_EQ(whole.servers[3].host, "c");
}

TEST(LockUrl, RefusalsSayWhatToWrite) {
    Refuses("", "redis://HOST");
    Refuses("rediz://h", "did you mean redis?");
    Refuses("redis", "redis://HOST");
    Refuses("redis:h", "redis://HOST");
    Refuses("maria://u@h/d", "no lock server \"maria\"");
    Refuses("marriadb://u@h/d", "did you mean mariadb?");
    Refuses("stor", "did you mean store?");
    Refuses("zookeeper://h", "store, memory:, redis://HOST");
    Refuses("memory:x", "nothing can follow");
    Refuses("store:x", "nothing can follow");
    Refuses("redis://", "a host is missing");
    Refuses("redis://a,", "a host is missing");
    Refuses("redis://:s3cr@", "a host is missing");
    Refuses("redis://a b", "a host has letters");
    Refuses("redis://::1", "IPv6 stands in [ ]");
    Refuses("redis://[::1", "]");
    for (const char* port : {"0", "65536", "x", "-1", "", "1x"}) {
        Refuses(std::string("redis://h:") + port, "from 1 to 65535");
    }
    Refuses("redis://h/x", "is a number");
    Refuses("redis://h/-1", "is a number");
    Refuses("redis://h/65536", "is a number");
    Refuses("etcd://h/1", "nothing can follow");
    Refuses("redis://a,a", "named twice");
    Refuses("redis://a,redis://a:6379", "named twice");
    Refuses("redis://a,etcd://b", "of one kind");
    Refuses("redis://a,redus://b", "did you mean redis?");
    Refuses("etcd://u:s3cr@a,etcd://b", "same user");
    Refuses("etcd://a,etcds://b", "same user");
    for (const char* text :
         {"mariadb://h/db", "mariadb://u@h", "mariadb://u@h/", "mysql://u@h/a/b"}) {
        Refuses(text, "USER:PASSWORD@HOST/DATABASE");
    }
    Refuses("mariadb://u@a,b/db", "one host");
    Refuses("mariadb://u@a/db,mariadb://u@b/db", "one host");
    Refuses("postgres", "postgres://");
    Refuses("postgres:h", "postgres://");
    Refuses("redis://h?x=1", "ca_file");
    Refuses("redis://h?ca_file=/x", "needs TLS");
    Refuses("rediss://h?ca_file=", "ca_file");
    Refusal(std::string_view("redis://a\0b", 11));
    Refusal("redis://u%00:p@h");
}

// A password with characters that should be encoded, and texts that are no URL at all.
TEST(LockUrl, APasswordIsInNoMessage) {
    for (const char* text :
         {"redis://u:s3cr/et@h", "redis://u:s3cr@et@h", "redis://u:s3cr,et@h",
          "redis://u:s3cr?et@h", "redis://u:s3cr%et@h", "redus://u:s3cr@h", "u:s3cr@h", "s3cr@h",
          "s3cr", "etcd:u:s3cr@h", "mariadb://u:s3cr@h", "redis://u:s3cr@h:x", "redis://u:s3cr@h/x",
          "redis://s3cr:h", "redis://u:x,s3cr://@h"}) {
        Refusal(text);
    }
    EXPECT_EQ(Shown("redis://u:s3cr@h"), "redis://u:***@h:6379");
    EXPECT_EQ(Shown("rediss://:s3cr@h/2,redis://b"), "rediss://:***@h:6379/2,redis://b:6379");
    EXPECT_EQ(Shown("etcd://u@[::1]"), "etcd://u@[::1]:2379");
    EXPECT_EQ(Shown("mysql://u%0A:s3cr@h/db"), "mariadb://u%0A:***@h:3306/db");
    EXPECT_EQ(Shown("postgres://u:s3cr@h/db?password=s3cr"), "postgres://u:***@h/db?password=***");
    EXPECT_EQ(Shown("store"), "store");
    EXPECT_EQ(Shown("memory"), "memory:");
}

}  // namespace
}  // namespace ksana::lock
