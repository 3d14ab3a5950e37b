#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ksana/broker/broker.hpp"
#include "ksana/broker_rabbitmq/confirms.hpp"
#include "ksana/broker_rabbitmq/connection.hpp"
#include "ksana/broker_rabbitmq/inbox.hpp"

// Private to the module, because it exposes librabbitmq.

namespace ksana::broker_rabbitmq {

// A file that wakes a poll. Any thread may set it.
class WakeFile {
    struct Key {};

  public:
    WakeFile(Key, int file) : file_(file) {}
    static Result<std::unique_ptr<WakeFile>> Make();
    ~WakeFile();
    WakeFile(const WakeFile&) = delete;
    WakeFile& operator=(const WakeFile&) = delete;

    void Set() const;
    void Clear() const;
    int file() const { return file_; }

  private:
    int file_;
};

// See broker.hpp for threads and errors.
class RabbitmqLink final : public broker::Link {
  public:
    RabbitmqLink(std::unique_ptr<Connection> connection, std::unique_ptr<WakeFile> wake,
                 const Clock& clock, Duration timeout);

    Result<void> Declare(const broker::QueueSpec& queue) override;
    Result<broker::QueueState> Inspect(const std::string& queue) override;
    Result<void> Purge(const std::string& queue) override;
    Result<std::vector<broker::PublishVerdict>> Publish(
        const std::vector<broker::OutMessage>& messages, Duration within) override;
    Result<void> Consume(const std::string& queue, std::size_t prefetch) override;
    Result<void> StopConsuming() override;
    Result<std::vector<broker::Delivery>> Receive(Duration wait, std::size_t most) override;
    Result<void> Acknowledge(const std::vector<std::uint64_t>& tags) override;
    Result<void> Reject(const std::vector<std::uint64_t>& tags, bool requeue) override;
    void Interrupt() override { wake_->Set(); }
    bool blocked() const override { return connection_->blocked(); }

  private:
    // Publishes and consumes; asks.
    static constexpr amqp_channel_t kWork = 1;
    static constexpr amqp_channel_t kAsk = 2;

    SteadyPoint In(Duration duration) const { return clock_.SteadyNow() + duration; }
    // The link is of no more use.
    Error Fail(Error error);
    // kUnavailable if the link has failed; opens a channel that an error has closed.
    Result<void> Ready(amqp_channel_t channel);
    // Sends a method and waits for its answer, which is valid until the next frame.
    Result<amqp_method_t> Call(amqp_channel_t channel, amqp_method_number_t id, void* method,
                               amqp_method_number_t answer);
    Result<const amqp_frame_t*> Next(const Connection::Pause& pause);
    Result<void> Send(amqp_method_number_t id, void* method);
    // Sends what can be sent without waiting, unless there is too much of it.
    Result<void> Push();
    Result<broker::QueueState> Look(const std::string& queue);

    // Takes a frame that nobody waits for.
    Result<void> Take(const amqp_frame_t& frame);
    Result<void> TakeMethod(const amqp_frame_t& frame);
    Result<void> TakeContent(const Inbox::Complete& complete);
    void Cancelled(const amqp_basic_cancel_t& method);
    // Answers that a channel was closed, and returns why.
    Error Closed(amqp_channel_t channel, const amqp_channel_close_t& close);

    Result<void> SendBatch(const std::vector<broker::OutMessage>& messages, SteadyPoint deadline);
    Result<void> SendOne(const broker::OutMessage& message);
    Result<void> AwaitConfirms(SteadyPoint deadline);

    const Clock& clock_;
    const Duration timeout_;
    const std::unique_ptr<const WakeFile> wake_;
    std::unique_ptr<Connection> connection_;
    std::optional<Error> failed_;
    std::array<bool, 3> open_{};  // by channel
    Confirms confirms_;
    Inbox inbox_;
    std::map<std::string, std::string, std::less<>> consumers_;  // queues by the consumer's tag
    std::optional<Error> ended_;                      // why a consumer has ended, to be told
    std::vector<amqp_table_entry_t> header_entries_;  // of one message; kept for its memory
};

}  // namespace ksana::broker_rabbitmq
