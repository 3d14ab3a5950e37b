#include "ksana/broker/memory_broker.hpp"

#include <set>

#include "broker/broker_fixture.hpp"

namespace ksana::brokers {
namespace {

// The suite runs without faults, on a broker of the process.
broker::MemoryBroker& SharedBroker() {
    static SystemClock clock;
    static SeededRandom random(1);
    static broker::MemoryBroker broker(clock, random);
    return broker;
}

std::unique_ptr<Link> OpenLink() {
    auto link = SharedBroker().Open("test");
    EXPECT_TRUE(link);
    return link ? *std::move(link) : nullptr;
}

INSTANTIATE_TEST_SUITE_P(Memory, BrokerTest,
                         ::testing::Values(BrokerKind{
                             .name = "memory",
                             .open = OpenLink,
                             .delete_queue =
                                 [](const std::string& queue) { SharedBroker().Delete(queue); }}),
                         [](const auto& kind) { return kind.param.name; });

class MemoryFaultsTest : public ::testing::Test {
  protected:
    std::unique_ptr<Link> Open() { return broker_.Open("test").value(); }

    SystemClock clock_;
    SeededRandom random_{42};
    broker::MemoryBroker broker_{clock_, random_};
};

TEST_F(MemoryFaultsTest, MessagesAreLostRefusedUnansweredAndRepeated) {
    auto link = Open();
    ASSERT_TRUE(link->Declare({.name = "q"}));
    broker_.SetFaults({.lose = 100, .refuse = 100, .unknown = 100, .repeat = 100, .reorder = 100});
    std::vector<OutMessage> messages;
    for (int i = 0; i < 1000; ++i) messages.push_back(Out("q", std::to_string(i)));
    const auto verdicts = link->Publish(messages, kLong);
    ASSERT_TRUE(verdicts);
    const auto stored = std::ranges::count(*verdicts, PublishVerdict::kStored);
    const auto refused = std::ranges::count(*verdicts, PublishVerdict::kRefused);
    EXPECT_NEAR(static_cast<double>(refused), 100, 50);
    EXPECT_NEAR(static_cast<double>(stored), 810, 60);
    ASSERT_TRUE(link->Consume("q", 65'535));
    const auto waiting = link->Inspect("q");
    ASSERT_TRUE(waiting);
    EXPECT_LT(waiting->messages, static_cast<std::size_t>(stored)) << "some were lost";
    std::vector<Delivery> all;
    for (;;) {
        auto some = link->Receive(Duration::zero(), 100);
        ASSERT_TRUE(some);
        if (some->empty()) break;
        all.insert(all.end(), some->begin(), some->end());
    }
    const Result<std::vector<Delivery>> none = link->Receive(Duration::zero(), 1);
    ASSERT_TRUE(none && none->empty());
    const auto ids = IdsOf(all);
    EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), waiting->messages);
    EXPECT_GT(ids.size(), waiting->messages) << "some came twice";
    EXPECT_FALSE(std::ranges::is_sorted(ids, {}, [](const auto& id) { return std::stoi(id); }));
}

TEST_F(MemoryFaultsTest, ABrokenLinkGivesBackItsDeliveries) {
    auto link = Open();
    ASSERT_TRUE(link->Declare({.name = "q"}));
    OutMessage transient = Out("q", "transient");
    transient.transient = true;
    Publish(*link, {Out("q", "1"), transient});
    ASSERT_TRUE(link->Consume("q", 10));
    EXPECT_EQ(link->Receive(Duration::zero(), 1).value().size(), 1U);
    broker_.Restart();
    EXPECT_EQ(CodeOf(link->Receive(kLong, 1)), Code::kUnavailable);
    EXPECT_EQ(CodeOf(link->Publish({Out("q", "2")}, kLong)), Code::kUnavailable);
    link->Interrupt();
    auto next = Open();
    ASSERT_TRUE(next->Consume("q", 10));
    const auto again = next->Receive(Duration::zero(), 10);
    ASSERT_TRUE(again);
    EXPECT_EQ(IdsOf(*again), std::vector<std::string>{"1"});
    EXPECT_TRUE(again->front().redelivered);
    broker_.SetFaults({.break_link = 1000});
    EXPECT_EQ(CodeOf(next->Inspect("q")), Code::kUnavailable);
    broker_.SetFaults({});
    broker_.SetDown(true);
    EXPECT_EQ(CodeOf(broker_.Open("test")), Code::kUnavailable);
    broker_.SetDown(false);
    EXPECT_TRUE(broker_.Open("test"));
}

TEST_F(MemoryFaultsTest, ABlockedBrokerHasNoAnswer) {
    auto link = Open();
    ASSERT_TRUE(link->Declare({.name = "q"}));
    EXPECT_FALSE(link->blocked());
    broker_.SetBlocked(true);
    EXPECT_TRUE(link->blocked());
    Publish(*link, {Out("q", "1")}, PublishVerdict::kUnknown);
    broker_.SetBlocked(false);
    EXPECT_EQ(link->Inspect("q").value().messages, 0U);
    Publish(*link, {Out("q", "1")});
}

}  // namespace
}  // namespace ksana::brokers
