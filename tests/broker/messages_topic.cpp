#include <algorithm>
#include <thread>

#include "broker/broker_fixture.hpp"

// D-01, D-03, D-16: messages: what arrives, in which order, how often, and what is refused.

namespace ksana::brokers {
namespace {

using Ids = std::vector<std::string>;

TEST_P(BrokerTest, WhatIsPublishedArrivesAsItWas) {
    const std::string queue = Queue("q", {.max_priority = 9});
    OutMessage message = Out(queue, "the id", 7);
    for (int byte = 0; byte < 256; ++byte) message.message.body += static_cast<char>(byte);
    message.message.headers = {{"traceparent", "00-ab"}, {"empty", ""}, {"umlaut", "ä"}};
    Publish(*link_, {message, Out(queue, "", 3)});
    ASSERT_TRUE(other_->Consume(queue, 10));
    const auto deliveries = Receive(*other_, 2);
    ASSERT_EQ(deliveries.size(), 2U);
    EXPECT_EQ(deliveries[0].message.id, "the id");
    EXPECT_EQ(deliveries[0].message.body, message.message.body);
    EXPECT_EQ(deliveries[0].message.priority, 7);
    EXPECT_EQ(deliveries[0].message.headers, message.message.headers);
    EXPECT_FALSE(deliveries[0].redelivered);
    EXPECT_EQ(deliveries[1].message.id, "");
    EXPECT_EQ(deliveries[1].message.body, "");
    EXPECT_TRUE(deliveries[1].message.headers.empty());
}

TEST_P(BrokerTest, MessagesOfOnePriorityKeepTheirOrder) {
    const std::string queue = Queue("q");
    std::vector<OutMessage> messages;
    Ids expected;
    for (int i = 0; i < 2000; ++i) {
        expected.push_back(std::to_string(i));
        messages.push_back(Out(queue, expected.back()));
        messages.back().message.body.assign(static_cast<std::size_t>(i), 'x');
    }
    ASSERT_TRUE(other_->Consume(queue, 100));
    Publish(*link_, messages);
    Ids ids;
    while (ids.size() < expected.size()) {
        const auto some = Receive(*other_, 100);
        ASSERT_EQ(some.size(), 100U);
        for (const Delivery& one : some) {
            EXPECT_EQ(one.message.body.size(), ids.size());
            ids.push_back(one.message.id);
        }
        ASSERT_TRUE(other_->Acknowledge(TagsOf(some)));
    }
    EXPECT_EQ(ids, expected);
    other_.reset();
    const auto state = link_->Inspect(queue);
    ASSERT_TRUE(state);
    EXPECT_EQ(state->messages, 0U) << "all of them were acknowledged";
}

TEST_P(BrokerTest, HigherPrioritiesComeFirst) {
    const std::string queue = Queue("q", {.max_priority = 10});
    std::vector<OutMessage> messages;
    for (int i = 0; i < 100; ++i) {
        messages.push_back(Out(queue, std::to_string(i), (i * 7) % 11));
    }
    messages.push_back(Out(queue, "above", 200));
    Publish(*link_, messages);
    std::ranges::stable_sort(messages, std::greater(), [](const OutMessage& one) {
        return std::min(one.message.priority, 10);
    });
    Ids expected;
    for (const OutMessage& one : messages) expected.push_back(one.message.id);
    ASSERT_TRUE(other_->Consume(queue, 1));
    Ids ids;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const auto one = Receive(*other_, 1);
        ASSERT_EQ(one.size(), 1U);
        ids.push_back(one[0].message.id);
        ASSERT_TRUE(other_->Acknowledge(TagsOf(one)));
    }
    EXPECT_EQ(ids, expected);
}

TEST_P(BrokerTest, TheLargestBodyPasses) {
    const std::string queue = Queue("q");
    OutMessage large = Out(queue, "large");
    large.message.body.assign(broker::kMaxBodyBytes, 'x');
    large.message.headers["h"] = std::string(broker::kMaxHeaderBytes - 1, 'y');
    Publish(*link_, {large});
    ASSERT_TRUE(other_->Consume(queue, 10));
    for (const Delivery& one : Receive(*other_, 1)) {
        EXPECT_EQ(one.message.body, large.message.body);
        EXPECT_EQ(one.message.headers, large.message.headers);
    }
}

// A prefetch of a thousand messages of 8 MiB must not take 8 GiB of the receiver's memory.
TEST_P(BrokerTest, LargeMessagesAreHandedOutAFewAtATime) {
    const std::string queue = Queue("q");
    constexpr std::size_t kMessages = 5;
    constexpr std::size_t kInOneGo = broker::kMaxReceivedBytes / broker::kMaxBodyBytes;
    OutMessage large = Out(queue, "large");
    large.message.body.assign(broker::kMaxBodyBytes, 'x');
    Publish(*link_, std::vector<OutMessage>(kMessages, large));
    ASSERT_TRUE(other_->Consume(queue, 1'000));
    std::size_t received = 0;
    while (received < kMessages) {
        const auto some = other_->Receive(kLong, 1'000);
        ASSERT_TRUE(some) << some.error().Describe();
        ASSERT_FALSE(some->empty());
        EXPECT_LE(some->size(), kInOneGo);
        for (const Delivery& one : *some) {
            EXPECT_EQ(one.message.body.size(), broker::kMaxBodyBytes);
        }
        ASSERT_TRUE(other_->Acknowledge(TagsOf(*some)));
        received += some->size();
    }
    EXPECT_EQ(received, kMessages);
}

TEST_P(BrokerTest, WhatIsNotAcknowledgedIsDeliveredAgain) {
    const std::string queue = Queue("q");
    Publish(*link_, {Out(queue, "1"), Out(queue, "2"), Out(queue, "3"), Out(queue, "4")});
    ASSERT_TRUE(other_->Consume(queue, 4));
    const auto first = Receive(*other_, 4);
    ASSERT_EQ(first.size(), 4U);
    // Not in their order, and some twice.
    ASSERT_TRUE(other_->Acknowledge({first[2].tag, first[2].tag}));
    ASSERT_TRUE(other_->Acknowledge({first[0].tag, first[2].tag, 999}));
    other_.reset();
    ASSERT_TRUE(link_->Consume(queue, 4));
    const auto again = Receive(*link_, 2);
    EXPECT_EQ(IdsOf(again), (Ids{"2", "4"}));
    for (const Delivery& one : again) EXPECT_TRUE(one.redelivered);
}

TEST_P(BrokerTest, WhoStopsConsumingHoldsNothingBack) {
    const std::string queue = Queue("q");
    Publish(*link_, {Out(queue, "1"), Out(queue, "2"), Out(queue, "3")});
    ASSERT_TRUE(link_->Consume(queue, 3));
    const auto first = Receive(*link_, 1);
    EXPECT_EQ(IdsOf(first), Ids{"1"});
    ASSERT_TRUE(link_->StopConsuming());
    ASSERT_TRUE(other_->Consume(queue, 10));
    EXPECT_EQ(IdsOf(Receive(*other_, 2)), (Ids{"2", "3"}))
        << "what had come and was not handed out";
    ASSERT_TRUE(link_->Acknowledge(TagsOf(first))) << "what was handed out is still its own";
    Publish(*other_, {Out(queue, "4")});
    EXPECT_EQ(IdsOf(Receive(*other_, 1)), Ids{"4"});
    const auto nothing = link_->Receive(Duration::zero(), 10);
    ASSERT_TRUE(nothing);
    EXPECT_TRUE(nothing->empty());
    // It may begin again, twice in vain.
    ASSERT_TRUE(link_->StopConsuming());
    Publish(*other_, {Out(queue, "5")});
    ASSERT_TRUE(other_->Acknowledge(TagsOf(Receive(*other_, 1))));
    ASSERT_TRUE(other_->StopConsuming());
    Publish(*other_, {Out(queue, "6")});
    ASSERT_TRUE(link_->Consume(queue, 1));
    EXPECT_EQ(IdsOf(Receive(*link_, 1)), Ids{"6"});
}

TEST_P(BrokerTest, RejectedMessagesGoBackOrToTheDeadLetters) {
    const std::string dead = Queue("dead");
    const std::string queue = Queue("q", {.dead_letters = dead});
    OutMessage message = Out(queue, "1");
    message.message.body = "body";
    message.message.headers["name"] = "value";
    Publish(*link_, {message});
    ASSERT_TRUE(link_->Consume(queue, 1));
    ASSERT_TRUE(link_->Reject(TagsOf(Receive(*link_, 1)), true));
    const auto again = Receive(*link_, 1);
    EXPECT_EQ(IdsOf(again), Ids{"1"});
    ASSERT_TRUE(link_->Reject(TagsOf(again), false));
    ASSERT_TRUE(other_->Consume(dead, 1));
    const auto letters = Receive(*other_, 1);
    ASSERT_EQ(IdsOf(letters), Ids{"1"});
    EXPECT_EQ(letters[0].message.body, "body");
    const auto header = letters[0].message.headers.find("name");
    ASSERT_NE(header, letters[0].message.headers.end());
    EXPECT_EQ(header->second, "value");
}

TEST_P(BrokerTest, AFullQueueRefuses) {
    const std::string queue = Queue("q", {.max_length = 3});
    const auto verdicts =
        link_->Publish({Out(queue, "1"), Out(queue, "2"), Out(queue, "3"), Out(queue, "4")}, kLong);
    ASSERT_TRUE(verdicts);
    using enum PublishVerdict;
    EXPECT_EQ(*verdicts, (std::vector{kStored, kStored, kStored, kRefused}));
    ASSERT_TRUE(other_->Consume(queue, 1));
    const auto first = Receive(*other_, 1);
    ASSERT_TRUE(other_->Acknowledge(TagsOf(first)));
    EXPECT_EQ(IdsOf(Receive(*other_, 1)), Ids{"2"});
    Publish(*link_, {Out(queue, "5")});
}

TEST_P(BrokerTest, AMessageWithoutAQueueIsTold) {
    const std::string queue = Queue("q");
    const std::string none = Name("none");
    OutMessage transient = Out(none, "dropped");
    transient.transient = true;
    const auto verdicts = link_->Publish(
        {Out(none, "same"), Out(queue, "same"), Out(none, "same"), transient, Out(queue, "1")},
        kLong);
    ASSERT_TRUE(verdicts);
    using enum PublishVerdict;
    EXPECT_EQ(*verdicts, (std::vector{kNoQueue, kStored, kNoQueue, kStored, kStored}));
    const auto state = link_->Inspect(queue);
    ASSERT_TRUE(state);
    EXPECT_EQ(state->messages, 2U);
    const auto nothing = link_->Publish({}, kLong);
    ASSERT_TRUE(nothing);
    EXPECT_TRUE(nothing->empty());
}

TEST_P(BrokerTest, NoMoreThanThePrefetchIsDelivered) {
    const std::string one = Queue("one");
    const std::string two = Queue("two");
    for (const std::string& queue : {one, two}) {
        Publish(*link_, {Out(queue, "1"), Out(queue, "2"), Out(queue, "3")});
    }
    ASSERT_TRUE(other_->Consume(one, 2));
    ASSERT_TRUE(other_->Consume(two, 2));
    const auto first = Receive(*other_, 2);
    auto more = other_->Receive(std::chrono::milliseconds(100), 10);
    ASSERT_TRUE(more);
    EXPECT_TRUE(more->empty()) << "over both queues";
    ASSERT_TRUE(other_->Acknowledge({first[0].tag}));
    Receive(*other_, 1);
    ASSERT_TRUE(other_->Consume(one, 5));
    Receive(*other_, 3);
    more = other_->Receive(Duration::zero(), 10);
    ASSERT_TRUE(more);
    EXPECT_TRUE(more->empty());
}

TEST_P(BrokerTest, ReceiveHandsOutNoMoreThanItIsAskedFor) {
    const std::string queue = Queue("q");
    Publish(*link_, {Out(queue, "1"), Out(queue, "2"), Out(queue, "3")});
    ASSERT_TRUE(link_->Consume(queue, 10));
    EXPECT_EQ(IdsOf(Receive(*link_, 1)), Ids{"1"});
    EXPECT_EQ(IdsOf(Receive(*link_, 2)), (Ids{"2", "3"}));
}

TEST_P(BrokerTest, ReceiveEndsWhenNothingComesAndWhenItIsInterrupted) {
    const SystemClock clock;
    const SteadyPoint before = clock.SteadyNow();
    ASSERT_TRUE(link_->Consume(Queue("q"), 1));
    auto nothing = link_->Receive(Duration::zero(), 1);
    ASSERT_TRUE(nothing);
    EXPECT_TRUE(nothing->empty());
    nothing = link_->Receive(std::chrono::milliseconds(20), 1);
    ASSERT_TRUE(nothing);
    EXPECT_TRUE(nothing->empty());
    link_->Interrupt();
    nothing = link_->Receive(std::chrono::hours(1), 1);
    ASSERT_TRUE(nothing);
    EXPECT_TRUE(nothing->empty());
    // The other thread interrupts before or during the call; both must end it.
    for (int round = 0; round < 50; ++round) {
        std::jthread other([&] { link_->Interrupt(); });
        nothing = link_->Receive(std::chrono::hours(1), 1);
        ASSERT_TRUE(nothing);
        EXPECT_TRUE(nothing->empty());
    }
    EXPECT_LT(clock.SteadyNow() - before, kLong);
}

}  // namespace
}  // namespace ksana::brokers
