#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ksana/broker/broker.hpp"

namespace ksana::broker_rabbitmq {

// Which messages of a batch the broker has answered for. The broker numbers what a channel
// publishes from 1. Answers for messages of former batches come too late, and are ignored.
class Confirms {
  public:
    // `messages` must outlive the batch.
    void Begin(const std::vector<broker::OutMessage>& messages);
    // The next message of the batch was sent.
    void Sent() { ++sent_; }
    // The broker answered for this number, or for all up to it.
    void Answer(std::uint64_t number, bool up_to, broker::PublishVerdict verdict);
    // A message came back, as there is no such queue; its answer comes afterwards.
    void Returned(std::string_view id, std::string_view queue);
    // The channel is another one, and no answer of the former can come any more.
    void Restart();

    bool all_answered() const { return answered_ == sent_; }
    std::size_t sent() const { return sent_; }
    // Ends the batch. What was not answered for is kUnknown.
    std::vector<broker::PublishVerdict> Take();

  private:
    enum class State : std::uint8_t { kWaiting, kReturned, kAnswered };

    void AnswerOne(std::size_t index, broker::PublishVerdict verdict);

    const std::vector<broker::OutMessage>* messages_ = nullptr;
    std::vector<broker::PublishVerdict> verdicts_;
    std::vector<State> states_;
    std::uint64_t before_ = 0;  // the number of the last message before the batch
    std::size_t sent_ = 0;      // of the batch
    std::size_t answered_ = 0;
    std::size_t first_open_ = 0;  // before it, all of the batch are answered for
    std::size_t next_return_ = 0;
};

}  // namespace ksana::broker_rabbitmq
