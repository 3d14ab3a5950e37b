#include <future>

#include "locks/etcd_fixture.hpp"
#include "support/tcp_proxy.hpp"

// G-07: connections that break, endpoints that do not answer, TLS.

namespace ksana::locks {
namespace {

using testing::TcpProxy;
using Mode = testing::TcpProxy::Mode;

// Every answer of the server has a header with this member.
constexpr const char* kAnswer = "raft_term";

class EtcdNetworkTest : public ::testing::Test {
  protected:
    const std::uint16_t port_ = testing::EtcdPort();
    const std::string key_ = UniqueKey();
    const SystemClock clock_;
    const std::unique_ptr<lock::LockDriver> other_ = OpenEtcd(EtcdOptions(port_, clock_));
};

// The stamp would refuse the second sending if it were taken for another request.
TEST_F(EtcdNetworkTest, AGrantWhoseAnswerIsLostIsRecognised) {
    for (const Mode mode : {Mode::kCutBefore, Mode::kCutAfter}) {
        TcpProxy proxy(port_, "request_put", kAnswer);
        const auto driver = OpenEtcd(EtcdOptions(proxy.port(), clock_));
        proxy.Set(mode);
        const std::int64_t stamp = mode == Mode::kCutBefore ? 1 : 2;
        const auto answer = driver->Try(Request(key_, "t1", seconds(60), stamp));
        ASSERT_TRUE(answer) << answer.error().Describe();
        EXPECT_EQ(proxy.cuts(), 1);
        ASSERT_TRUE(answer->grant);
        EXPECT_EQ(answer->last_stamp, stamp);
        EXPECT_FALSE(Take(*other_, Request(key_, "t2")));
        EXPECT_TRUE(driver->Renew(Request(key_, "t1"), answer->grant->fence));
        EXPECT_TRUE(driver->Release(Request(key_, "t1"), answer->grant->fence));
    }
}

TEST_F(EtcdNetworkTest, ACutConnectionIsMadeAgain) {
    for (const std::string trigger :
         {"/v3/lease/grant", "/v3/lease/keepalive", "/v3/lease/revoke", "/v3/kv/txn"}) {
        for (const Mode mode : {Mode::kCutBefore, Mode::kCutAfter}) {
            TcpProxy proxy(port_, trigger, kAnswer);
            const auto driver = OpenEtcd(EtcdOptions(proxy.port(), clock_));
            proxy.Set(mode);
            const auto grant = Take(*driver, Request(key_, "t1"));
            ASSERT_TRUE(grant) << trigger;
            EXPECT_TRUE(driver->Renew(Request(key_, "t1"), grant->fence)) << trigger;
            EXPECT_TRUE(driver->Release(Request(key_, "t1"), grant->fence)) << trigger;
            EXPECT_EQ(proxy.cuts(), 1) << trigger;
        }
    }
}

TEST_F(EtcdNetworkTest, AnExchangeOfLeasesMaySendTwice) {
    TcpProxy proxy(port_, "request_put", kAnswer);
    const auto driver = OpenEtcd(EtcdOptions(proxy.port(), clock_));
    const auto grant = Take(*driver, Request(key_, "t1"));
    ASSERT_TRUE(grant);
    proxy.Set(Mode::kCutAfter);
    EXPECT_TRUE(driver->Renew(Request(key_, "t1", seconds(90)), grant->fence));
    EXPECT_EQ(proxy.cuts(), 1);
    EXPECT_FALSE(Take(*other_, Request(key_, "t2")));
    EXPECT_TRUE(driver->Release(Request(key_, "t1"), grant->fence));
}

// Between the look at the lock and the transaction, another process uses the lock for the same
// fire.
TEST_F(EtcdNetworkTest, AStampUsedMeanwhileIsRefused) {
    TcpProxy proxy(port_, "request_put", kAnswer);
    const auto driver = OpenEtcd(EtcdOptions(proxy.port(), clock_));
    proxy.Set(Mode::kCutBefore, Mode::kStall);
    auto answer = std::async(std::launch::async,
                             [&] { return driver->Try(Request(key_, "t1", seconds(60), 5)); });
    EXPECT_TRUE(Eventually([&] { return proxy.cuts() == 1; }));
    const auto grant = Take(*other_, Request(key_, "t2", seconds(60), 5));
    EXPECT_TRUE(grant && other_->Release(Request(key_, "t2"), grant->fence));
    proxy.Set(Mode::kPass);
    const auto late = answer.get();
    ASSERT_TRUE(late) << late.error().Describe();
    EXPECT_FALSE(late->grant);
    EXPECT_EQ(late->last_stamp, 5);
    EXPECT_TRUE(Take(*driver, Request(key_, "t1", seconds(60), 6)));
}

TEST_F(EtcdNetworkTest, AnUnknownOutcomeIsUnavailable) {
    TcpProxy proxy(port_, "request_put", kAnswer);
    const auto driver = OpenEtcd(EtcdOptions(proxy.port(), clock_));
    proxy.Set(Mode::kCutAfter, Mode::kRefuse);
    EXPECT_EQ(FaultOf(driver->Try(Request(key_, "t1", seconds(2)))), Code::kUnavailable);
    EXPECT_EQ(FaultOf(driver->Renew(Request(key_, "t1"), 1)), Code::kUnavailable);
    proxy.Set(Mode::kPass);
    // Nobody relies on that lock; it does not stay for longer than its TTL.
    std::optional<lock::Grant> grant;
    EXPECT_TRUE(
        Eventually([&] { return (grant = Take(*other_, Request(key_, "t2"))).has_value(); }));
    ASSERT_TRUE(grant);
    EXPECT_TRUE(other_->Release(Request(key_, "t2"), grant->fence));
}

TEST_F(EtcdNetworkTest, ADeadEndpointIsPassedOver) {
    std::uint16_t dead = 0;
    {
        const TcpProxy proxy(port_, "");
        dead = proxy.port();
    }
    auto options = EtcdOptions(dead, clock_);
    const auto alone = OpenEtcd(options);
    const auto fault = alone->Try(Request(key_, "t1"));
    ASSERT_EQ(FaultOf(fault), Code::kUnavailable);
    EXPECT_NE(fault.error().message.find(std::to_string(dead)), std::string::npos)
        << fault.error().message;
    options.endpoints.push_back({"127.0.0.1", port_});
    const auto both = OpenEtcd(options);
    EXPECT_EQ(both->Location(),
              "etcd://127.0.0.1:" + std::to_string(dead) + ",127.0.0.1:" + std::to_string(port_));
    const auto grant = Take(*both, Request(key_, "t1"));
    ASSERT_TRUE(grant);
    EXPECT_TRUE(both->Renew(Request(key_, "t1"), grant->fence));
    EXPECT_TRUE(both->Release(Request(key_, "t1"), grant->fence));
}

TEST_F(EtcdNetworkTest, ASilentEndpointLeavesTimeForTheNext) {
    TcpProxy proxy(port_, "");
    auto options = EtcdOptions(proxy.port(), clock_);
    options.endpoints.push_back({"127.0.0.1", port_});
    options.timeout = seconds(6);
    const auto driver = OpenEtcd(options);
    proxy.Set(Mode::kStall);
    const auto grant = Take(*driver, Request(key_, "t1"));
    ASSERT_TRUE(grant);
    // The endpoint that answered is asked first from now on.
    const SteadyPoint before = clock_.SteadyNow();
    EXPECT_TRUE(driver->Renew(Request(key_, "t1"), grant->fence));
    EXPECT_TRUE(driver->Release(Request(key_, "t1"), grant->fence));
    EXPECT_LT(clock_.SteadyNow() - before, options.timeout / 2);
    proxy.Set(Mode::kPass);
}

TEST_F(EtcdNetworkTest, SomethingElseThanEtcdIsUnavailable) {
    EtcdServer server(true);
    const auto plain = OpenEtcd(EtcdOptions(server.port(), clock_));  // plain HTTP to a TLS port
    EXPECT_EQ(FaultOf(plain->Try(Request(key_, "t1"))), Code::kUnavailable);
}

TEST_F(EtcdNetworkTest, TlsVerifiesTheServer) {
    EtcdServer server(true);
    auto options = EtcdOptions(server.port(), clock_);
    options.tls = true;
    const auto stranger = OpenEtcd(options);
    EXPECT_EQ(FaultOf(stranger->Try(Request(key_, "t1"))), Code::kUnavailable)
        << "the certificate is not among the system's";
    options.ca_file = server.CaFile();
    const auto driver = OpenEtcd(options);
    EXPECT_EQ(driver->Location(), "etcds://127.0.0.1:" + std::to_string(server.port()));
    const auto grant = Take(*driver, Request(key_, "t1"));
    ASSERT_TRUE(grant);
    EXPECT_TRUE(driver->Renew(Request(key_, "t1"), grant->fence));
    EXPECT_TRUE(driver->Release(Request(key_, "t1"), grant->fence));
}

TEST_F(EtcdNetworkTest, BadOptionsAreRefused) {
    auto none = EtcdOptions(port_, clock_);
    none.endpoints.clear();
    auto host = EtcdOptions(port_, clock_);
    host.endpoints[0].host = "h/x?";
    auto port = EtcdOptions(0, clock_);
    auto time = EtcdOptions(port_, clock_);
    time.timeout = Duration::zero();
    for (const auto& options : {none, host, port, time}) {
        EXPECT_EQ(FaultOf(lock_etcd::OpenEtcdLocks(options)), Code::kInvalidArgument);
    }
}

}  // namespace
}  // namespace ksana::locks
