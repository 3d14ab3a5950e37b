#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ksana/broker/broker.hpp"
#include "ksana/broker_rabbitmq/wire/codec.hpp"

// Private to the module, because it exposes librabbitmq.

namespace ksana::broker_rabbitmq {

// Puts messages together from their frames, keeps them until they are asked for, and knows which
// tags are not acknowledged. The broker numbers the deliveries of a channel from 1; the tags that
// are handed out tell channels apart as well, so that a tag of a former channel is not taken for
// one of this.
class Inbox {
  public:
    // A message that came back, instead of being stored.
    struct Return {
        std::string id;
        std::string queue;
    };
    // What the last frame completed.
    struct Complete {
        std::optional<Return> returned;
        std::optional<std::uint64_t> too_large;  // the broker's tag
    };

    void Begin(const amqp_basic_deliver_t& method);
    void Begin(const amqp_basic_return_t& method);
    Complete Header(const amqp_frame_t& frame);
    Complete Body(const amqp_frame_t& frame);

    bool empty() const { return deliveries_.empty(); }
    std::size_t size() const { return deliveries_.size(); }
    std::size_t bytes() const { return bytes_; }  // of the bodies that wait
    // At most `most`, and no further one once they are of kMaxReceivedBytes.
    std::vector<broker::Delivery> Take(std::size_t most);
    // All that wait leave; returns their tags.
    std::vector<std::uint64_t> TakeTags();

    // What to tell the broker so that these are done: up to `up_to`, and `single` besides. The
    // broker's tags; 0: none.
    struct Done {
        std::uint64_t up_to = 0;
        std::vector<std::uint64_t> single;
    };
    Done Settle(const std::vector<std::uint64_t>& tags);
    // The same without `up_to`.
    std::vector<std::uint64_t> SettleEach(const std::vector<std::uint64_t>& tags);

    // The channel is another one: whatever was delivered has gone back to the broker.
    void Restart();

  private:
    enum class Kind : std::uint8_t { kNothing, kDelivery, kReturn };

    Complete Finish();

    Kind kind_ = Kind::kNothing;
    broker::Delivery delivery_;
    Return return_;
    std::uint64_t remaining_ = 0;
    bool too_large_ = false;
    std::uint64_t channel_ = 0;  // of how many channels this is the last
    std::deque<broker::Delivery> deliveries_;
    std::size_t bytes_ = 0;
    std::set<std::uint64_t> unacknowledged_;  // the broker's tags
};

}  // namespace ksana::broker_rabbitmq
