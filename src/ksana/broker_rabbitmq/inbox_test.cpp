#include "ksana/broker_rabbitmq/inbox.hpp"

#include <gtest/gtest.h>

#include <array>

namespace ksana::broker_rabbitmq {
namespace {

using Tags = std::vector<std::uint64_t>;

class InboxTest : public ::testing::Test {
  protected:
    // As the broker sends a message, with its body in parts.
    Inbox::Complete Deliver(std::uint64_t tag, std::uint64_t size,
                            const std::vector<std::string>& parts) {
        amqp_basic_deliver_t method{};
        method.delivery_tag = tag;
        inbox_.Begin(method);
        amqp_basic_properties_t properties{};
        amqp_frame_t frame{};
        frame.payload.properties.class_id = AMQP_BASIC_CLASS;
        frame.payload.properties.body_size = size;
        frame.payload.properties.decoded = &properties;
        Inbox::Complete complete = inbox_.Header(frame);
        for (const std::string& part : parts) {
            frame.payload.body_fragment = Bytes(part);
            complete = inbox_.Body(frame);
        }
        return complete;
    }
    // Delivers that many empty messages and returns their tags.
    Tags DeliverMany(std::uint64_t count) {
        for (std::uint64_t tag = 1; tag <= count; ++tag) Deliver(tag, 0, {});
        Tags tags;
        for (const auto& one : inbox_.Take(count)) tags.push_back(one.tag);
        return tags;
    }

    Inbox inbox_;
};

TEST_F(InboxTest, ABodyComesInParts) {
    Deliver(1, 6, {"abc", "de"});
    EXPECT_TRUE(inbox_.empty());
    amqp_frame_t frame{};
    frame.payload.body_fragment = Bytes("f");
    inbox_.Body(frame);
    ASSERT_EQ(inbox_.size(), 1U);
    EXPECT_EQ(inbox_.Take(5).front().message.body, "abcdef");
}

TEST_F(InboxTest, LargeBodiesAreTakenAFewAtATime) {
    const std::string half(broker::kMaxReceivedBytes / 2, 'x');
    for (std::uint64_t tag = 1; tag <= 3; ++tag) Deliver(tag, half.size(), {half});
    EXPECT_EQ(inbox_.bytes(), 3 * half.size());
    EXPECT_EQ(inbox_.Take(5).size(), 2U);
    EXPECT_EQ(inbox_.bytes(), half.size());
    EXPECT_EQ(inbox_.TakeTags().size(), 1U);
    EXPECT_EQ(inbox_.bytes(), 0U);
}

TEST_F(InboxTest, WhatIsTooLargeIsNotKept) {
    const auto complete =
        Deliver(1, broker::kMaxBodyBytes + 1, {std::string(broker::kMaxBodyBytes, 'x'), "x"});
    EXPECT_EQ(complete.too_large, 1U);
    EXPECT_TRUE(inbox_.empty());
    EXPECT_TRUE(inbox_.SettleEach({1}).empty()) << "the caller rejects it";
}

TEST_F(InboxTest, FramesOfNoMessageAreIgnored) {
    amqp_frame_t frame{};
    frame.payload.body_fragment = Bytes("late");
    inbox_.Body(frame);
    inbox_.Header(frame);
    EXPECT_TRUE(inbox_.empty());
}

TEST_F(InboxTest, OneNumberSaysThatAllUpToItAreDone) {
    const Tags tags = DeliverMany(6);
    ASSERT_EQ(tags.size(), 6U);
    auto done = inbox_.Settle({tags[3], tags[1], tags[0]});
    EXPECT_EQ(done.up_to, 2U);
    EXPECT_EQ(done.single, Tags{4}) << "3 is not done";
    done = inbox_.Settle({tags[2], tags[2], tags[0]});
    EXPECT_EQ(done.up_to, 3U);
    EXPECT_TRUE(done.single.empty());
    done = inbox_.Settle({tags[5]});
    EXPECT_EQ(done.up_to, 0U);
    EXPECT_EQ(done.single, Tags{6});
    done = inbox_.Settle({tags[4]});
    EXPECT_EQ(done.up_to, 5U);
    done = inbox_.Settle({tags[4], 77});
    EXPECT_EQ(done.up_to, 0U);
    EXPECT_TRUE(done.single.empty());
}

TEST_F(InboxTest, ATagOfAFormerChannelIsNotOneOfThis) {
    const Tags before = DeliverMany(2);
    Deliver(3, 0, {});
    inbox_.Restart();
    EXPECT_TRUE(inbox_.empty()) << "it comes again";
    const Tags now = DeliverMany(2);
    EXPECT_EQ(inbox_.Settle(before).up_to, 0U);
    EXPECT_EQ(inbox_.Settle(now).up_to, 2U);
}

// What cannot come from RabbitMQ's own tools, in a test without a broker.
TEST(TextsOfTable, NumbersDecimalsAndDeepTablesHaveATextToo) {
    std::array<amqp_table_entry_t, 6> entries{};
    const auto entry = [&](std::size_t at, const char* name, int kind) -> amqp_field_value_t& {
        entries.at(at).key = Bytes(name);
        entries.at(at).value.kind = static_cast<std::uint8_t>(kind);
        return entries.at(at).value;
    };
    entry(0, "u8", AMQP_FIELD_KIND_U8).value.u8 = 255;
    entry(1, "i64", AMQP_FIELD_KIND_I64).value.i64 = INT64_MIN;
    entry(2, "u64", AMQP_FIELD_KIND_U64).value.u64 = UINT64_MAX;
    entry(3, "price", AMQP_FIELD_KIND_DECIMAL).value.decimal = {.decimals = 3, .value = 5};
    entry(4, "void", AMQP_FIELD_KIND_VOID);
    // A table in a table in a table …
    std::array<amqp_table_entry_t, 20> nested{};
    for (std::size_t i = 0; i < nested.size(); ++i) {
        nested.at(i).key = Bytes("t");
        nested.at(i).value.kind = AMQP_FIELD_KIND_TABLE;
        nested.at(i).value.value.table = {.num_entries = i > 0 ? 1 : 0,
                                          .entries = i > 0 ? &nested.at(i - 1) : nullptr};
    }
    entry(5, "deep", AMQP_FIELD_KIND_TABLE).value.table = {.num_entries = 1,
                                                           .entries = &nested.back()};
    const TextMap texts = TextsOf({.num_entries = entries.size(), .entries = entries.data()});
    EXPECT_EQ(texts,
              (TextMap{{"u8", "255"},
                       {"i64", "-9223372036854775808"},
                       {"u64", "18446744073709551615"},
                       {"price", "0.005"},
                       {"void", ""},
                       {"deep", R"({"t":{"t":{"t":{"t":{"t":{"t":{"t":{"t":null}}}}}}}})"}}));
}

}  // namespace
}  // namespace ksana::broker_rabbitmq
