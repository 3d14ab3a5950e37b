#include "ksana/lock_redis/redis_fixture.hpp"

namespace ksana::lock_redis {
namespace {

class TlsTest : public RedisTest {
  protected:
    testing::PrivateRedis redis_{"--tls"};
};

TEST_F(TlsTest, NamesAndAddressesOfTheCertificateAreAccepted) {
    RedisServer server = redis_.server();
    ASSERT_TRUE(server.tls);
    auto driver = Open({server});
    const auto grant = Take(*driver, Request("t1"));
    ASSERT_TRUE(grant);
    EXPECT_TRUE(driver->Location().starts_with("rediss://127.0.0.1:"));
    server.host = "localhost";
    auto named = Open({server});
    EXPECT_TRUE(named->Renew(Request("t1"), grant->fence));
    EXPECT_TRUE(driver->Release(Request("t1"), grant->fence));
}

TEST_F(TlsTest, AnotherNameIsRefused) {
    RedisServer server = redis_.server();
    for (const char* const host : {"127.0.0.2", "localhost.localdomain", "ip6-localhost"}) {
        server.host = host;
        const auto tried = Open({server})->Try(Request("t1"));
        EXPECT_EQ(CodeOf(tried), Code::kUnavailable) << host;
    }
    // An address of this machine that is not in the certificate, on a server that listens there.
    testing::PrivateRedis elsewhere("--tls --bind 127.0.0.2");
    server = elsewhere.server();
    server.host = "127.0.0.2";
    const auto tried = Open({server})->Try(Request("t1"));
    ASSERT_EQ(CodeOf(tried), Code::kUnavailable);
    EXPECT_NE(tried.error().message.find("certificate"), std::string::npos)
        << tried.error().message;
}

TEST_F(TlsTest, AnUnknownAuthorityIsRefused) {
    RedisServer server = redis_.server();
    server.ca_file.clear();
    const auto tried = Open({server})->Try(Request("t1"));
    ASSERT_EQ(CodeOf(tried), Code::kUnavailable);
    EXPECT_NE(tried.error().message.find("certificate"), std::string::npos)
        << tried.error().message;
}

TEST_F(TlsTest, ProtocolsThatDoNotMatchAreUnavailable) {
    RedisServer plain = redis_.server();
    plain.tls = false;
    EXPECT_EQ(CodeOf(Open({plain})->Try(Request("t1"))), Code::kUnavailable);
    testing::PrivateRedis other;
    RedisServer tls = redis_.server();
    tls.port = other.server().port;
    EXPECT_EQ(CodeOf(Open({tls}, std::chrono::milliseconds(500))->Try(Request("t1"))),
              Code::kUnavailable);
}

TEST_F(TlsTest, ARestartedServerIsFoundAgain) {
    auto driver = Open({redis_.server()});
    const auto first = Take(*driver, Request("t1"));
    ASSERT_TRUE(first);
    redis_.Restart();
    const auto second = Take(*driver, Request("t2"));
    ASSERT_TRUE(second);
    EXPECT_GT(second->fence, first->fence);
}

TEST_F(TlsTest, AStoppedServerIsUnavailableInTime) {
    auto driver = Open({redis_.server()}, std::chrono::milliseconds(150));
    redis_.Pause();
    EXPECT_EQ(CodeOf(driver->Try(Request("t1"))), Code::kUnavailable) << "during the handshake";
    redis_.Continue();
    ASSERT_TRUE(TakeSoon(*driver, Request("t1")));
    redis_.Pause();
    EXPECT_EQ(CodeOf(driver->Try(Request("t1"))), Code::kUnavailable);
    redis_.Continue();
    EXPECT_TRUE(TakeSoon(*driver, Request("t1")));
}

}  // namespace
}  // namespace ksana::lock_redis
