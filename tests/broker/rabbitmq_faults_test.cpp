#include <fmt/format.h>

#include <algorithm>

#include "broker/broker_fixture.hpp"
#include "broker/rabbitmq_fixture.hpp"
#include "support/tcp_proxy.hpp"

// D-01, D-03: what the network and other people do to links, on a broker that other tests share.

namespace ksana::brokers {
namespace {

using broker::BrokerUrl;
using testing::TcpProxy;

constexpr Duration kShort = std::chrono::milliseconds(500);
// For a call that has to end by itself: a busy machine may add some seconds.
constexpr Duration kBound = std::chrono::seconds(8);

// How long a call takes.
class Stopwatch {
  public:
    ~Stopwatch() { EXPECT_LT(RealClock().SteadyNow() - begun_, kBound); }

  private:
    const SteadyPoint begun_ = RealClock().SteadyNow();
};

Error OpenError(const BrokerUrl& url) {
    const Stopwatch watch;
    auto broker = broker_rabbitmq::OpenRabbitmq(
        {.url = url, .clock = RealClock(), .timeout = std::chrono::seconds(3)});
    if (!broker) return broker.error();
    auto link = (*broker)->Open("ksana test");
    EXPECT_FALSE(link);
    return link ? Error(Code::kInternal, "") : link.error();
}

TEST(RabbitmqFaults, AWrongNameOrVirtualHostIsRefusedAtOnce) {
    const BrokerUrl right = testing::SharedRabbitmq();
    BrokerUrl url = right;
    url.password = "not-the-password";
    Error error = OpenError(url);
    EXPECT_EQ(error.code, Code::kPermissionDenied) << error.message;
    EXPECT_NE(error.message.find("ACCESS_REFUSED"), std::string::npos) << error.message;
    EXPECT_EQ(error.message.find(url.password), std::string::npos) << error.message;
    url = right;
    url.vhost = "no-such-host";
    error = OpenError(url);
    EXPECT_EQ(error.code, Code::kPermissionDenied) << error.message;
    EXPECT_NE(error.message.find("no-such-host"), std::string::npos) << error.message;
}

TEST(RabbitmqFaults, ACertificateThatIsNotTrustedIsRefused) {
    const BrokerUrl right = testing::SharedRabbitmqTls();
    BrokerUrl url = right;
    url.ca_file.clear();  // the authorities of the system do not know it
    Error error = OpenError(url);
    EXPECT_EQ(error.code, Code::kUnavailable);
    EXPECT_NE(error.message.find("certificate"), std::string::npos) << error.message;
    url = right;
    url.server_name = "elsewhere.example";
    error = OpenError(url);
    EXPECT_EQ(error.code, Code::kUnavailable);
    EXPECT_NE(error.message.find("hostname mismatch"), std::string::npos) << error.message;
    url.server_name = "localhost";
    EXPECT_TRUE(OpenLink(url));
    url.ca_file += ".missing";
    error = OpenError(url);
    EXPECT_EQ(error.code, Code::kInvalidArgument);
    EXPECT_NE(error.message.find("ca_file"), std::string::npos) << error.message;
    // TLS to a port without it, and the other way round.
    url = right;
    url.port = testing::SharedRabbitmq().port;
    EXPECT_EQ(OpenError(url).code, Code::kUnavailable);
    url = testing::SharedRabbitmq();
    url.port = right.port;
    EXPECT_EQ(OpenError(url).code, Code::kUnavailable);
}

// A broker behind a proxy that the test breaks.
class RabbitmqProxyTest : public ::testing::Test {
  protected:
    BrokerUrl Url() const {
        BrokerUrl url = testing::SharedRabbitmq();
        url.port = proxy_.port();
        url.heartbeat = std::chrono::seconds(1);
        return url;
    }
    // A link whose own bound is short, with a queue.
    void OpenShort() {
        link_ = OpenLink(Url(), kShort * 4);
        ASSERT_TRUE(link_);
        ASSERT_TRUE(link_->Declare({.name = queue_}));
        ASSERT_TRUE(link_->Consume(queue_, 10));
    }

    TcpProxy proxy_{testing::SharedRabbitmq().port, "\r\n"};
    const std::string queue_ = "ksana-test." + UniqueText();
    std::unique_ptr<Link> link_;
};

TEST_F(RabbitmqProxyTest, NobodyThereIsUnavailable) {
    proxy_.Set(TcpProxy::Mode::kStall);
    EXPECT_EQ(OpenError(Url()).code, Code::kUnavailable) << "silent";
    proxy_.Set(TcpProxy::Mode::kRefuse);
    EXPECT_EQ(OpenError(Url()).code, Code::kUnavailable) << "hangs up";
    BrokerUrl url = Url();
    url.port = 1;
    EXPECT_EQ(OpenError(url).code, Code::kUnavailable) << "nobody listens";
    url.host = "no-such-host.invalid";
    EXPECT_EQ(OpenError(url).code, Code::kUnavailable) << "no address";
}

TEST_F(RabbitmqProxyTest, EveryCallToASilentBrokerEndsInTime) {
    OpenShort();
    proxy_.Set(TcpProxy::Mode::kStall);
    // More than the buffers of the network hold.
    std::vector<OutMessage> messages(64, Out(queue_, "large"));
    for (OutMessage& one : messages) one.message.body.assign(std::size_t{1} << 20, 'x');
    {
        const Stopwatch watch;
        const auto verdicts = link_->Publish(messages, kShort);
        ASSERT_TRUE(verdicts);
        EXPECT_EQ(std::ranges::count(*verdicts, PublishVerdict::kUnknown), 64);
    }
    {
        const Stopwatch watch;
        EXPECT_EQ(CodeOf(link_->Inspect(queue_)), Code::kUnavailable);
    }
    EXPECT_EQ(CodeOf(link_->Acknowledge({1})), Code::kUnavailable) << "of no more use";
    const Stopwatch watch;
    link_.reset();
}

TEST_F(RabbitmqProxyTest, SilenceIsNoticedByTheHeartbeat) {
    OpenShort();
    proxy_.Set(TcpProxy::Mode::kStall);
    const Stopwatch watch;
    const auto lost = link_->Receive(std::chrono::hours(1), 1);
    ASSERT_EQ(CodeOf(lost), Code::kUnavailable);
    EXPECT_NE(lost.error().message.find("heartbeat"), std::string::npos) << lost.error().message;
}

// Twice the time of silence that the broker bears.
TEST_F(RabbitmqProxyTest, AnIdleLinkIsKeptAliveByItsHeartbeats) {
    OpenShort();
    const auto nothing = link_->Receive(std::chrono::milliseconds(4500), 1);
    ASSERT_TRUE(nothing) << nothing.error().Describe();
    Publish(*link_, {Out(queue_, "1")});
    EXPECT_EQ(Receive(*link_, 1).size(), 1U);
}

TEST_F(RabbitmqProxyTest, ABrokenConnectionEndsTheLink) {
    OpenShort();
    Publish(*link_, {Out(queue_, "1")});
    EXPECT_EQ(Receive(*link_, 1).size(), 1U);
    proxy_.Set(TcpProxy::Mode::kRefuse);
    const auto lost = link_->Receive(std::chrono::hours(1), 1);
    ASSERT_EQ(CodeOf(lost), Code::kUnavailable);
    EXPECT_NE(lost.error().message.find(Url().name()), std::string::npos) << lost.error().message;
    EXPECT_EQ(CodeOf(link_->Publish({Out(queue_, "2")}, kLong)), Code::kUnavailable);
    EXPECT_EQ(CodeOf(link_->Declare({.name = queue_})), Code::kUnavailable);
    link_->Interrupt();
    proxy_.Set(TcpProxy::Mode::kPass);
    OpenShort();
    const auto again = Receive(*link_, 1);
    ASSERT_EQ(again.size(), 1U);
    EXPECT_TRUE(again[0].redelivered);
}

TEST_F(RabbitmqProxyTest, ABreakWhilePublishingLeavesTheAnswersOpen) {
    OpenShort();
    TcpProxy cutting(testing::SharedRabbitmq().port, "the-last-one");
    BrokerUrl url = Url();
    url.port = cutting.port();
    auto link = OpenLink(url);
    cutting.Set(TcpProxy::Mode::kCutBefore);
    const auto verdicts = link->Publish({Out(queue_, "first"), Out(queue_, "the-last-one")}, kLong);
    ASSERT_TRUE(verdicts) << "a message may have been sent";
    EXPECT_EQ(verdicts->back(), PublishVerdict::kUnknown);
    EXPECT_EQ(CodeOf(link->Publish({Out(queue_, "next")}, kLong)), Code::kUnavailable);
}

// What other programs send.
class RabbitmqStrangersTest : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(link_->Declare({.name = dead_}));
        ASSERT_TRUE(link_->Declare({.name = queue_, .dead_letters = dead_}));
    }
    // `properties` and `body` in Erlang.
    void PublishErlang(const std::string& properties, const std::string& body) {
        testing::RunSharedRabbitmqctl(fmt::format(
            "eval 'rabbit_basic:publish(rabbit_misc:r(<<\"/\">>, exchange, <<>>), <<\"{}\">>, {}, "
            "{}).'",
            queue_, properties, body));
    }

    const std::string queue_ = "ksana-test." + UniqueText();
    const std::string dead_ = queue_ + ".dead";
    std::unique_ptr<Link> link_ = OpenLink(testing::SharedRabbitmq());
};

TEST_F(RabbitmqStrangersTest, HeadersOfOtherTypesAreTurnedIntoText) {
    PublishErlang(
        "[{message_id, <<\"1\">>}, {headers, [{<<\"number\">>, signedint, -5}, {<<\"yes\">>, "
        "bool, true}, {<<\"half\">>, double, 0.5}, {<<\"text\">>, longstr, <<\"t\">>}, "
        "{<<\"when\">>, timestamp, 1700000000}, {<<\"list\">>, array, [{long, 1}, {longstr, "
        "<<\"a\">>}]}, {<<\"table\">>, table, [{<<\"k\">>, longstr, <<\"v\">>}]}]}]",
        "<<\"body\">>");
    ASSERT_TRUE(link_->Consume(queue_, 1));
    const auto one = Receive(*link_, 1);
    ASSERT_EQ(one.size(), 1U);
    EXPECT_EQ(one[0].message.body, "body");
    EXPECT_EQ(one[0].message.headers, (TextMap{{"number", "-5"},
                                               {"yes", "true"},
                                               {"half", "0.5"},
                                               {"text", "t"},
                                               {"when", "1700000000"},
                                               {"list", R"([1,"a"])"},
                                               {"table", R"({"k":"v"})"}}));
}

TEST_F(RabbitmqStrangersTest, AMessageThatIsTooLargeGoesToTheDeadLetters) {
    PublishErlang("[{message_id, <<\"large\">>}]",
                  "binary:copy(<<\"x\">>, " + std::to_string(broker::kMaxBodyBytes + 1) + ")");
    PublishErlang("[{message_id, <<\"small\">>}]", "<<\"x\">>");
    ASSERT_TRUE(link_->Consume(queue_, 1));
    EXPECT_EQ(IdsOf(Receive(*link_, 1)), std::vector<std::string>{"small"});
    const auto state = link_->Inspect(dead_);
    ASSERT_TRUE(state);
    EXPECT_EQ(state->messages, 1U);
}

TEST_F(RabbitmqStrangersTest, DeadLettersSayWhy) {
    Publish(*link_, {Out(queue_, "1")});
    ASSERT_TRUE(link_->Consume(queue_, 1));
    ASSERT_TRUE(link_->Reject(TagsOf(Receive(*link_, 1)), false));
    ASSERT_TRUE(link_->Consume(dead_, 1));
    const auto letter = Receive(*link_, 1);
    ASSERT_EQ(letter.size(), 1U);
    const auto death = letter[0].message.headers.find("x-death");
    ASSERT_NE(death, letter[0].message.headers.end());
    EXPECT_NE(death->second.find(R"("reason":"rejected")"), std::string::npos) << death->second;
}

TEST_F(RabbitmqStrangersTest, TheBrokerKnowsWhoWeAre) {
    auto link = OpenBroker(testing::SharedRabbitmq())->Open("purpose " + queue_);
    ASSERT_TRUE(link);
    const std::string list = testing::RunSharedRabbitmqctl("list_connections client_properties");
    EXPECT_NE(list.find("purpose " + queue_), std::string::npos) << list;
    EXPECT_NE(list.find("ksana"), std::string::npos);
}

}  // namespace
}  // namespace ksana::brokers
