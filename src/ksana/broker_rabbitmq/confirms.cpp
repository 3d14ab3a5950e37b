#include "ksana/broker_rabbitmq/confirms.hpp"

#include <algorithm>

namespace ksana::broker_rabbitmq {

using broker::PublishVerdict;

void Confirms::Begin(const std::vector<broker::OutMessage>& messages) {
    messages_ = &messages;
    verdicts_.assign(messages.size(), PublishVerdict::kUnknown);
    states_.assign(messages.size(), State::kWaiting);
    sent_ = answered_ = first_open_ = next_return_ = 0;
}

void Confirms::AnswerOne(std::size_t index, PublishVerdict verdict) {
    State& state = states_[index];
    if (state == State::kAnswered) return;
    const bool returned = state == State::kReturned;
    verdicts_[index] = returned ? PublishVerdict::kNoQueue : verdict;
    state = State::kAnswered;
    ++answered_;
}

void Confirms::Answer(std::uint64_t number, bool up_to, PublishVerdict verdict) {
    if (number <= before_) return;
    const auto end = static_cast<std::size_t>(std::min<std::uint64_t>(number - before_, sent_));
    if (end == 0) return;
    if (!up_to) {
        AnswerOne(end - 1, verdict);
    } else {
        for (std::size_t i = first_open_; i < end; ++i) AnswerOne(i, verdict);
    }
    while (first_open_ < sent_ && states_[first_open_] == State::kAnswered) ++first_open_;
}

// Returns come in the order of the messages, so the search goes on where the last one ended. Equal
// messages of one batch cannot be told apart, and need not be.
void Confirms::Returned(std::string_view id, std::string_view queue) {
    for (std::size_t i = std::max(next_return_, first_open_); i < sent_; ++i) {
        const broker::OutMessage& sent = (*messages_)[i];
        if (states_[i] != State::kWaiting || sent.message.id != id || sent.queue != queue) continue;
        states_[i] = State::kReturned;
        next_return_ = i + 1;
        return;
    }
}

void Confirms::Restart() {
    before_ = 0;
    // Begin starts a batch on the new channel.
    sent_ = answered_ = first_open_ = 0;
}

std::vector<PublishVerdict> Confirms::Take() {
    before_ += sent_;
    messages_ = nullptr;
    sent_ = answered_ = first_open_ = 0;
    return std::move(verdicts_);
}

}  // namespace ksana::broker_rabbitmq
