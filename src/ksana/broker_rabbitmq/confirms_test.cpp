#include "ksana/broker_rabbitmq/confirms.hpp"

#include <gtest/gtest.h>

namespace ksana::broker_rabbitmq {
namespace {

using broker::OutMessage;
using broker::PublishVerdict;
using enum PublishVerdict;
using Verdicts = std::vector<PublishVerdict>;

std::vector<OutMessage> Messages(const std::vector<std::string>& ids) {
    std::vector<OutMessage> messages;
    for (const std::string& id : ids) {
        messages.push_back({.queue = "q", .message = {.id = id, .body = {}, .headers = {}}});
    }
    return messages;
}

class ConfirmsTest : public ::testing::Test {
  protected:
    void Send(const std::vector<std::string>& ids) {
        messages_ = Messages(ids);
        confirms_.Begin(messages_);
        for (std::size_t i = 0; i < ids.size(); ++i) confirms_.Sent();
    }

    std::vector<OutMessage> messages_;
    Confirms confirms_;
};

TEST_F(ConfirmsTest, AnswersComeInAnyOrderAndForManyAtOnce) {
    Send({"1", "2", "3", "4", "5", "6"});
    confirms_.Answer(3, false, kRefused);
    confirms_.Answer(3, false, kStored);  // the first answer counts
    confirms_.Answer(2, true, kStored);
    EXPECT_FALSE(confirms_.all_answered());
    confirms_.Answer(5, true, kRefused);
    confirms_.Answer(6, false, kStored);
    EXPECT_TRUE(confirms_.all_answered());
    EXPECT_EQ(confirms_.Take(),
              (Verdicts{kStored, kStored, kRefused, kRefused, kRefused, kStored}));
}

TEST_F(ConfirmsTest, AnAnswerForAFormerBatchIsLate) {
    Send({"1", "2", "3"});
    confirms_.Answer(1, false, kStored);
    EXPECT_EQ(confirms_.Take(), (Verdicts{kStored, kUnknown, kUnknown}));
    Send({"4", "5"});
    confirms_.Answer(2, false, kRefused);
    confirms_.Answer(3, true, kRefused);
    EXPECT_FALSE(confirms_.all_answered());
    confirms_.Answer(4, true, kStored);  // for 3 as well
    EXPECT_EQ(confirms_.Take(), (Verdicts{kStored, kUnknown}));
}

TEST_F(ConfirmsTest, AReturnedMessageHasNoQueue) {
    Send({"same", "other", "same", "same"});
    confirms_.Returned("same", "q");
    confirms_.Returned("same", "elsewhere");
    confirms_.Returned("same", "q");
    confirms_.Answer(4, true, kStored);
    EXPECT_EQ(confirms_.Take(), (Verdicts{kNoQueue, kStored, kNoQueue, kStored}));
}

TEST_F(ConfirmsTest, ANewChannelCountsFromOne) {
    Send({"1", "2"});
    confirms_.Answer(1, false, kStored);
    confirms_.Restart();
    EXPECT_TRUE(confirms_.all_answered()) << "there is nothing to wait for";
    EXPECT_EQ(confirms_.Take(), (Verdicts{kStored, kUnknown}));
    Send({"3"});
    confirms_.Answer(1, false, kStored);
    EXPECT_EQ(confirms_.Take(), Verdicts{kStored});
}

TEST_F(ConfirmsTest, WhatTheBrokerCannotMeanIsIgnored) {
    Send({"1"});
    confirms_.Answer(0, true, kRefused);
    confirms_.Answer(1000, true, kStored);
    EXPECT_EQ(confirms_.Take(), Verdicts{kStored});
    confirms_.Answer(7, true, kStored);  // there is no batch
    confirms_.Returned("1", "q");
    EXPECT_TRUE(confirms_.Take().empty());
}

}  // namespace
}  // namespace ksana::broker_rabbitmq
