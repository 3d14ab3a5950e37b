#include "broker/broker_fixture.hpp"

// D-01: queues: what they are declared with, who may use them, what is in them.

namespace ksana::brokers {
namespace {

TEST_P(BrokerTest, AQueueCanBeDeclaredTwice) {
    QueueSpec spec{.name = Name("q"), .max_priority = 5, .max_length = 7, .dead_letters = "dead"};
    ASSERT_TRUE(link_->Declare(spec));
    EXPECT_TRUE(link_->Declare(spec));
    EXPECT_TRUE(other_->Declare(spec));
}

TEST_P(BrokerTest, AQueueWithOtherArgumentsIsAConflict) {
    const QueueSpec spec{
        .name = Name("q"), .max_priority = 5, .max_length = 7, .dead_letters = "dead"};
    ASSERT_TRUE(link_->Declare(spec));
    QueueSpec priority = spec;
    priority.max_priority = 6;
    QueueSpec length = spec;
    length.max_length = 0;
    QueueSpec letters = spec;
    letters.dead_letters = "others";
    QueueSpec exclusive = spec;
    exclusive.exclusive = true;
    for (const QueueSpec& wrong : {priority, length, letters, exclusive}) {
        const auto refused = other_->Declare(wrong);
        ASSERT_EQ(CodeOf(refused), Code::kConflict);
        EXPECT_NE(refused.error().message.find(spec.name), std::string::npos)
            << refused.error().message;
    }
    const auto refused = other_->Declare(priority);
    EXPECT_NE(refused.error().message.find("priority"), std::string::npos)
        << refused.error().message;
    EXPECT_TRUE(other_->Declare(spec)) << "the link can still be used";
    Publish(*other_, {Out(spec.name, "1")});
}

TEST_P(BrokerTest, WhatCannotBeIsRefusedBeforeItIsSent) {
    const std::string queue = Queue("q");
    EXPECT_EQ(CodeOf(link_->Declare({.name = ""})), Code::kInvalidArgument);
    EXPECT_EQ(CodeOf(link_->Declare({.name = std::string(256, 'q')})), Code::kInvalidArgument);
    EXPECT_EQ(CodeOf(link_->Declare({.name = Name("p"), .max_priority = 256})),
              Code::kInvalidArgument);
    EXPECT_EQ(CodeOf(link_->Inspect("")), Code::kInvalidArgument);
    EXPECT_EQ(CodeOf(link_->Consume(queue, 0)), Code::kInvalidArgument);
    EXPECT_EQ(CodeOf(link_->Consume(queue, 65'536)), Code::kInvalidArgument);
    OutMessage large = Out(queue, "large");
    large.message.body.assign(broker::kMaxBodyBytes + 1, 'x');
    const auto refused = link_->Publish({Out(queue, "small"), large}, kLong);
    ASSERT_EQ(CodeOf(refused), Code::kInvalidArgument);
    EXPECT_NE(refused.error().message.find("large"), std::string::npos);
    EXPECT_NE(refused.error().message.find(std::to_string(broker::kMaxBodyBytes)),
              std::string::npos);
    OutMessage headers = Out(queue, "headers");
    headers.message.headers["x"] = std::string(broker::kMaxHeaderBytes, 'x');
    EXPECT_EQ(CodeOf(link_->Publish({headers}, kLong)), Code::kInvalidArgument);
    EXPECT_EQ(CodeOf(link_->Publish({Out(queue, std::string(256, 'i'))}, kLong)),
              Code::kInvalidArgument);
    const auto state = link_->Inspect(queue);
    ASSERT_TRUE(state);
    EXPECT_EQ(state->messages, 0U);
}

TEST_P(BrokerTest, AQueueThatIsNotThereIsNotFound) {
    EXPECT_EQ(CodeOf(link_->Inspect(Name("none"))), Code::kNotFound);
    EXPECT_EQ(CodeOf(link_->Consume(Name("none"), 1)), Code::kNotFound);
    const std::string queue = Queue("q");
    Publish(*link_, {Out(queue, "1")});
    ASSERT_TRUE(link_->Consume(queue, 1)) << "the link can still be used";
    EXPECT_EQ(CodeOf(link_->Consume(Name("none"), 1)), Code::kNotFound);
    EXPECT_EQ(IdsOf(Receive(*link_, 1)), std::vector<std::string>{"1"})
        << "another consumer is not touched";
}

TEST_P(BrokerTest, InspectCountsAndPurgeEmpties) {
    const std::string queue = Queue("q");
    Publish(*link_, {Out(queue, "1"), Out(queue, "2"), Out(queue, "3")});
    auto state = link_->Inspect(queue);
    ASSERT_TRUE(state);
    EXPECT_EQ(state->messages, 3U);
    EXPECT_EQ(state->consumers, 0U);
    ASSERT_TRUE(other_->Consume(queue, 1));
    Receive(*other_, 1);
    state = link_->Inspect(queue);
    ASSERT_TRUE(state);
    EXPECT_EQ(state->messages, 2U) << "without what was delivered";
    EXPECT_EQ(state->consumers, 1U);
    ASSERT_TRUE(link_->Purge(queue));
    state = link_->Inspect(queue);
    ASSERT_TRUE(state);
    EXPECT_EQ(state->messages, 0U);
    EXPECT_TRUE(link_->Declare({.name = queue})) << "the queue is still there";
}

TEST_P(BrokerTest, AnExclusiveQueueBelongsToItsLink) {
    const std::string queue = Queue("q", {.exclusive = true});
    EXPECT_TRUE(link_->Declare({.name = queue, .exclusive = true}));
    EXPECT_EQ(CodeOf(other_->Declare({.name = queue, .exclusive = true})), Code::kConflict);
    EXPECT_EQ(CodeOf(other_->Consume(queue, 1)), Code::kConflict);
    Publish(*other_, {Out(queue, "1")});
    ASSERT_TRUE(link_->Consume(queue, 1));
    EXPECT_EQ(IdsOf(Receive(*link_, 1)), std::vector<std::string>{"1"});
    link_.reset();
    EXPECT_EQ(CodeOf(other_->Inspect(queue)), Code::kNotFound);
    Publish(*other_, {Out(queue, "2")}, PublishVerdict::kNoQueue);
}

TEST_P(BrokerTest, AConsumerIsToldThatItsQueueWasDeleted) {
    const std::string queue = Queue("q");
    const std::string stays = Queue("stays");
    Publish(*other_, {Out(queue, "1"), Out(queue, "2")});
    ASSERT_TRUE(link_->Consume(queue, 1));
    ASSERT_TRUE(link_->Consume(stays, 1));
    const auto before = Receive(*link_, 1);
    GetParam().delete_queue(queue);
    const auto told = link_->Receive(kLong, 10);
    ASSERT_EQ(CodeOf(told), Code::kConflict);
    EXPECT_NE(told.error().message.find(queue), std::string::npos) << told.error().message;
    EXPECT_TRUE(link_->Acknowledge(TagsOf(before))) << "which means nothing any more";
    Publish(*other_, {Out(stays, "3")});
    const auto third = Receive(*link_, 1);
    EXPECT_EQ(IdsOf(third), std::vector<std::string>{"3"}) << "the other consumer goes on";
    EXPECT_TRUE(link_->Acknowledge(TagsOf(third)));
    ASSERT_TRUE(link_->Declare({.name = queue}));
    ASSERT_TRUE(link_->Consume(queue, 1));
    Publish(*other_, {Out(queue, "4")});
    EXPECT_EQ(IdsOf(Receive(*link_, 1)), std::vector<std::string>{"4"});
}

}  // namespace
}  // namespace ksana::brokers
