#include "broker/broker_fixture.hpp"
#include "broker/rabbitmq_fixture.hpp"

// D-01, D-03: what the broker itself goes through: alarms, a crash, its bound on slow consumers.
// One broker for all of it, as starting one takes seconds.

namespace ksana::brokers {
namespace {

using testing::PrivateRabbitmq;

constexpr Duration kShort = std::chrono::seconds(1);
constexpr const char* kQueue = "q";

void EndsASlowConsumer(Link& link) {
    Publish(link, {Out(kQueue, "slow")});
    ASSERT_TRUE(link.Consume(kQueue, 1));
    const auto first = Receive(link, 1);
    const auto told = link.Receive(std::chrono::minutes(2), 1);
    ASSERT_EQ(CodeOf(told), Code::kConflict);
    EXPECT_NE(told.error().message.find("timed out"), std::string::npos) << told.error().message;
    EXPECT_TRUE(link.Acknowledge(TagsOf(first))) << "of a delivery that was taken back";
    ASSERT_TRUE(link.Consume(kQueue, 1)) << "the link can still be used";
    const auto again = Receive(link, 1);
    ASSERT_EQ(again.size(), 1U);
    EXPECT_TRUE(again[0].redelivered);
    EXPECT_TRUE(link.Acknowledge(TagsOf(first))) << "which is not the one of this delivery";
    EXPECT_TRUE(link.Acknowledge(TagsOf(again)));
    Publish(link, {Out(kQueue, "another")});
    EXPECT_TRUE(link.Acknowledge(TagsOf(Receive(link, 1))));
}

void BlocksPublishers(PrivateRabbitmq& broker) {
    const auto link = OpenLink(broker.url());
    Publish(*link, {Out(kQueue, "before")});
    EXPECT_FALSE(link->blocked());
    broker.Ctl("set_vm_memory_high_watermark 0");
    const SteadyPoint before = RealClock().SteadyNow();
    std::vector<OutMessage> messages(1000, Out(kQueue, "during"));
    for (OutMessage& one : messages) one.message.body.assign(100'000, 'x');
    const auto verdicts = link->Publish(messages, kShort);
    ASSERT_TRUE(verdicts);
    EXPECT_EQ(verdicts->back(), PublishVerdict::kUnknown);
    EXPECT_TRUE(link->blocked());
    const auto none = link->Publish({Out(kQueue, "none")}, kShort);
    ASSERT_TRUE(none);
    EXPECT_EQ(none->front(), PublishVerdict::kUnknown);
    EXPECT_LT(RealClock().SteadyNow() - before, kShort * 10);
    broker.Ctl("set_vm_memory_high_watermark absolute 256MB");
    for (int i = 0; i < 30 && link->blocked(); ++i) ASSERT_TRUE(link->Receive(kShort, 1));
    EXPECT_FALSE(link->blocked());
    Publish(*link, {Out(kQueue, "after")});
    ASSERT_TRUE(link->Purge(kQueue));
}

void KeepsWhatItStored(PrivateRabbitmq& broker) {
    const auto link = OpenLink(broker.url());
    std::vector<OutMessage> messages(100, Out(kQueue, "kept"));
    messages.push_back(Out(kQueue, "transient"));
    messages.back().transient = true;
    Publish(*link, messages);
    broker.Kill();
    EXPECT_EQ(CodeOf(link->Receive(kLong, 1)), Code::kUnavailable);
    EXPECT_EQ(CodeOf(OpenBroker(broker.url())->Open("test")), Code::kUnavailable);
    broker.Start();
    const auto next = OpenLink(broker.url());
    const auto state = next->Inspect(kQueue);
    ASSERT_TRUE(state);
    EXPECT_EQ(state->messages, 100U);
    ASSERT_TRUE(next->Consume(kQueue, 1000));
    for (const Delivery& one : Receive(*next, 100)) EXPECT_EQ(one.message.id, "kept");
}

TEST(RabbitmqRestart, LinksSurviveWhatTheBrokerDoes) {
    PrivateRabbitmq broker;
    // Its channels look at their consumers once a minute, and bear half an hour.
    broker.Ctl(
        "eval 'application:set_env(rabbit, channel_tick_interval, 1000), "
        "application:set_env(rabbit, consumer_timeout, 1000).'");
    const auto link = OpenLink(broker.url());
    ASSERT_TRUE(link);
    ASSERT_TRUE(link->Declare({.name = kQueue}));
    EndsASlowConsumer(*link);
    BlocksPublishers(broker);
    KeepsWhatItStored(broker);
}

}  // namespace
}  // namespace ksana::brokers
