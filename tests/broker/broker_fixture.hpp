#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/broker/broker.hpp"

namespace ksana::broker {

inline void PrintTo(PublishVerdict verdict, std::ostream* out) {
    *out << "verdict " << static_cast<int>(verdict);
}

}  // namespace ksana::broker

namespace ksana::brokers {

using broker::Delivery;
using broker::Link;
using broker::OutMessage;
using broker::PublishVerdict;
using broker::QueueSpec;

// For a call that has no reason to wait; long, as machines can be slow.
inline constexpr Duration kLong = std::chrono::seconds(30);

template <class T>
Code CodeOf(const Result<T>& result) {
    EXPECT_FALSE(result) << "there was no error";
    return result ? Code::kInternal : result.error().code;
}

// A text that no other test uses, also not one in another process.
inline std::string UniqueText() {
    SystemRandom random;
    return std::to_string(random.Next());
}

inline OutMessage Out(const std::string& queue, std::string id, std::int32_t priority = 0) {
    return {.queue = queue,
            .message = {.id = std::move(id), .body = {}, .priority = priority, .headers = {}}};
}

// Publishes and expects the verdict for every message.
inline void Publish(Link& link, const std::vector<OutMessage>& messages,
                    PublishVerdict expected = PublishVerdict::kStored) {
    const auto verdicts = link.Publish(messages, kLong);
    ASSERT_TRUE(verdicts) << verdicts.error().Describe();
    EXPECT_EQ(*verdicts, std::vector<PublishVerdict>(messages.size(), expected));
}

// Receives that many, or fails the test.
inline std::vector<Delivery> Receive(Link& link, std::size_t count) {
    const SystemClock clock;
    const SteadyPoint deadline = clock.SteadyNow() + kLong;
    std::vector<Delivery> all;
    while (all.size() < count && clock.SteadyNow() < deadline) {
        auto some = link.Receive(std::chrono::seconds(1), count - all.size());
        if (!some) {
            ADD_FAILURE() << some.error().Describe();
            break;
        }
        for (Delivery& one : *some) all.push_back(std::move(one));
    }
    EXPECT_EQ(all.size(), count);
    return all;
}

inline std::vector<std::string> IdsOf(const std::vector<Delivery>& deliveries) {
    std::vector<std::string> ids;
    for (const Delivery& one : deliveries) ids.push_back(one.message.id);
    return ids;
}

inline std::vector<std::uint64_t> TagsOf(const std::vector<Delivery>& deliveries) {
    std::vector<std::uint64_t> tags;
    for (const Delivery& one : deliveries) tags.push_back(one.tag);
    return tags;
}

// One kind of broker, for the suite that every driver runs (*_topic.cpp). A driver has one file
// that instantiates BrokerTest with its kind.
struct BrokerKind {
    std::string name;
    // The same broker each time, as another process would open it.
    std::function<std::unique_ptr<Link>()> open;
    // What an operator does.
    std::function<void(const std::string& queue)> delete_queue;
};

inline void PrintTo(const BrokerKind& kind, std::ostream* out) { *out << kind.name; }

// Tests run in parallel on the same broker, so every test makes its queues with Queue.
class BrokerTest : public ::testing::TestWithParam<BrokerKind> {
  protected:
    void SetUp() override {
        link_ = Open();
        other_ = Open();
        ASSERT_TRUE(link_ && other_);
    }
    static std::unique_ptr<Link> Open() { return GetParam().open(); }

    std::string Name(std::string_view name) const {
        return "ksana-test." + unique_ + "." + std::string(name);
    }
    // Declares a queue and returns its name.
    std::string Queue(std::string_view name, QueueSpec spec = {}) {
        spec.name = Name(name);
        const auto done = link_->Declare(spec);
        EXPECT_TRUE(done) << done.error().Describe();
        return spec.name;
    }

    std::unique_ptr<Link> link_;
    std::unique_ptr<Link> other_;

  private:
    const std::string unique_ = UniqueText();
};

}  // namespace ksana::brokers
