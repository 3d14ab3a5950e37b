#include "ksana/broker_rabbitmq/rabbitmq_link.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "ksana/base/text/utf8.hpp"
#include "ksana/broker/check.hpp"

namespace ksana::broker_rabbitmq {
namespace {

Error Unanswered(std::string_view what) {
    return {Code::kUnavailable, fmt::format("the broker did not answer in time: {}", what)};
}

amqp_table_entry_t NumberEntry(std::string_view name, std::int64_t value) {
    amqp_table_entry_t entry{};
    entry.key = Bytes(name);
    entry.value.kind = AMQP_FIELD_KIND_I64;
    entry.value.value.i64 = value;
    return entry;
}

std::vector<amqp_table_entry_t> ArgumentsOf(const broker::QueueSpec& queue) {
    std::vector<amqp_table_entry_t> arguments;
    if (queue.max_priority > 0) {
        arguments.push_back(NumberEntry("x-max-priority", queue.max_priority));
    }
    if (queue.max_length > 0) {
        arguments.push_back(
            NumberEntry("x-max-length", static_cast<std::int64_t>(queue.max_length)));
        arguments.push_back(TextEntry("x-overflow", "reject-publish"));
    }
    if (!queue.dead_letters.empty()) {
        arguments.push_back(TextEntry("x-dead-letter-exchange", ""));
        arguments.push_back(TextEntry("x-dead-letter-routing-key", queue.dead_letters));
    }
    return arguments;
}

Code CodeOf(std::uint16_t reply) {
    switch (reply) {
        case AMQP_NOT_FOUND:
            return Code::kNotFound;
        case AMQP_ACCESS_REFUSED:
            return Code::kPermissionDenied;
        case AMQP_RESOURCE_LOCKED:
        case AMQP_PRECONDITION_FAILED:
            return Code::kConflict;
        default:
            return Code::kInternal;
    }
}

}  // namespace

Result<std::unique_ptr<WakeFile>> WakeFile::Make() {
    const int file = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (file >= 0) return std::make_unique<WakeFile>(Key(), file);
    return Error(Code::kExhausted,
                 "no file to wake a link with: " + std::generic_category().message(errno));
}

WakeFile::~WakeFile() { ::close(file_); }

// Fails only if it is set already.
void WakeFile::Set() const { (void)::eventfd_write(file_, 1); }

void WakeFile::Clear() const {
    eventfd_t count = 0;
    (void)::eventfd_read(file_, &count);
}

RabbitmqLink::RabbitmqLink(std::unique_ptr<Connection> connection, std::unique_ptr<WakeFile> wake,
                           const Clock& clock, Duration timeout)
    : clock_(clock),
      timeout_(timeout),
      wake_(std::move(wake)),
      connection_(std::move(connection)) {}

Error RabbitmqLink::Fail(Error error) {
    error.code = Code::kUnavailable;
    if (!failed_) failed_ = error;
    return error;
}

Result<const amqp_frame_t*> RabbitmqLink::Next(const Connection::Pause& pause) {
    auto frame = connection_->Next(pause);
    if (!frame) return Fail(std::move(frame).error());
    return frame;
}

Result<void> RabbitmqLink::Ready(amqp_channel_t channel) {
    if (failed_) return *failed_;
    if (open_[channel]) return {};
    amqp_channel_open_t open{};
    KSANA_TRY_VOID(Call(channel, AMQP_CHANNEL_OPEN_METHOD, &open, AMQP_CHANNEL_OPEN_OK_METHOD));
    open_[channel] = true;
    if (channel != kWork) return {};
    amqp_confirm_select_t confirm{};
    KSANA_TRY_VOID(
        Call(channel, AMQP_CONFIRM_SELECT_METHOD, &confirm, AMQP_CONFIRM_SELECT_OK_METHOD));
    return {};
}

Result<amqp_method_t> RabbitmqLink::Call(amqp_channel_t channel, amqp_method_number_t id,
                                         void* method, amqp_method_number_t answer) {
    KSANA_TRY_VOID(connection_->Send(channel, id, method));
    const SteadyPoint deadline = In(timeout_);
    for (;;) {
        KSANA_TRY(const amqp_frame_t* const frame, Next({.until = deadline}));
        if (frame == nullptr) {
            return Fail(Unanswered(blocked() ? "an alarm blocks the connection" : "a request"));
        }
        if (frame->frame_type == AMQP_FRAME_METHOD && frame->channel == channel) {
            if (frame->payload.method.id == answer) return frame->payload.method;
            if (frame->payload.method.id == AMQP_CHANNEL_CLOSE_METHOD) {
                return Closed(channel, *static_cast<const amqp_channel_close_t*>(
                                           frame->payload.method.decoded));
            }
        }
        KSANA_TRY_VOID(Take(*frame));
    }
}

Error RabbitmqLink::Closed(amqp_channel_t channel, const amqp_channel_close_t& close) {
    Error why(CodeOf(close.reply_code), fmt::format("RabbitMQ: {} {}", close.reply_code,
                                                    Excerpt(View(close.reply_text), 500)));
    open_.at(channel) = false;
    amqp_channel_close_ok_t answer{};
    if (auto sent = connection_->Send(channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &answer); !sent) {
        return Fail(std::move(sent).error());
    }
    if (channel == kWork) {
        confirms_.Restart();
        inbox_.Restart();
        if (!consumers_.empty()) ended_ = Error(Code::kConflict, why.message);
        consumers_.clear();
    }
    return why;
}

Result<void> RabbitmqLink::Send(amqp_method_number_t id, void* method) {
    return connection_->Send(kWork, id, method);
}

Result<void> RabbitmqLink::Push() {
    const SteadyPoint deadline = connection_->room() ? clock_.SteadyNow() : In(timeout_);
    for (;;) {
        KSANA_TRY(const amqp_frame_t* const frame, Next({.until = deadline, .or_room = true}));
        if (frame != nullptr) {
            KSANA_TRY_VOID(Take(*frame));
        } else if (connection_->room()) {
            return {};
        } else {
            return Fail(Unanswered("it does not read"));
        }
    }
}

// What the broker sends by itself. It has nothing to say on other channels.
Result<void> RabbitmqLink::Take(const amqp_frame_t& frame) {
    const bool closes = frame.frame_type == AMQP_FRAME_METHOD &&
                        frame.payload.method.id == AMQP_CHANNEL_CLOSE_METHOD;
    if (frame.channel != kWork && !(frame.channel == kAsk && closes)) return {};
    switch (frame.frame_type) {
        case AMQP_FRAME_METHOD:
            return TakeMethod(frame);
        case AMQP_FRAME_HEADER:
            return TakeContent(inbox_.Header(frame));
        case AMQP_FRAME_BODY:
            return TakeContent(inbox_.Body(frame));
        default:
            return {};
    }
}

Result<void> RabbitmqLink::TakeMethod(const amqp_frame_t& frame) {
    const void* const method = frame.payload.method.decoded;
    switch (frame.payload.method.id) {
        case AMQP_BASIC_DELIVER_METHOD:
            inbox_.Begin(*static_cast<const amqp_basic_deliver_t*>(method));
            return {};
        case AMQP_BASIC_RETURN_METHOD:
            inbox_.Begin(*static_cast<const amqp_basic_return_t*>(method));
            return {};
        case AMQP_BASIC_ACK_METHOD: {
            const auto& ack = *static_cast<const amqp_basic_ack_t*>(method);
            confirms_.Answer(ack.delivery_tag, ack.multiple != 0, broker::PublishVerdict::kStored);
            return {};
        }
        case AMQP_BASIC_NACK_METHOD: {
            const auto& nack = *static_cast<const amqp_basic_nack_t*>(method);
            confirms_.Answer(nack.delivery_tag, nack.multiple != 0,
                             broker::PublishVerdict::kRefused);
            return {};
        }
        case AMQP_BASIC_CANCEL_METHOD:
            Cancelled(*static_cast<const amqp_basic_cancel_t*>(method));
            return {};
        case AMQP_CHANNEL_CLOSE_METHOD: {
            const Error why =
                Closed(frame.channel, *static_cast<const amqp_channel_close_t*>(method));
            return failed_ ? Result<void>(why) : Result<void>();
        }
        default:
            return {};
    }
}

void RabbitmqLink::Cancelled(const amqp_basic_cancel_t& method) {
    const auto consumer = consumers_.find(View(method.consumer_tag));
    if (consumer == consumers_.end()) return;
    ended_ = Error(Code::kConflict, fmt::format("the broker ended the consumer of {}",
                                                Excerpt(consumer->second, 255)));
    consumers_.erase(consumer);
}

Result<void> RabbitmqLink::TakeContent(const Inbox::Complete& complete) {
    if (complete.returned) confirms_.Returned(complete.returned->id, complete.returned->queue);
    if (!complete.too_large) return {};
    amqp_basic_reject_t reject{};
    reject.delivery_tag = *complete.too_large;
    return Send(AMQP_BASIC_REJECT_METHOD, &reject);
}

Result<void> RabbitmqLink::Declare(const broker::QueueSpec& queue) {
    KSANA_TRY_VOID(broker::CheckQueue(queue));
    KSANA_TRY_VOID(Ready(kAsk));
    std::vector<amqp_table_entry_t> arguments = ArgumentsOf(queue);
    amqp_queue_declare_t declare{};
    declare.queue = Bytes(queue.name);
    declare.durable = queue.exclusive ? 0 : 1;
    declare.exclusive = queue.exclusive ? 1 : 0;
    declare.arguments = {.num_entries = static_cast<int>(arguments.size()),
                         .entries = arguments.data()};
    auto done = Call(kAsk, AMQP_QUEUE_DECLARE_METHOD, &declare, AMQP_QUEUE_DECLARE_OK_METHOD);
    if (!done) return std::move(done).error();
    return {};
}

Result<broker::QueueState> RabbitmqLink::Look(const std::string& queue) {
    KSANA_TRY_VOID(broker::CheckQueueName(queue));
    KSANA_TRY_VOID(Ready(kAsk));
    amqp_queue_declare_t declare{};
    declare.queue = Bytes(queue);
    declare.passive = 1;
    KSANA_TRY(const amqp_method_t answer,
              Call(kAsk, AMQP_QUEUE_DECLARE_METHOD, &declare, AMQP_QUEUE_DECLARE_OK_METHOD));
    const auto& state = *static_cast<const amqp_queue_declare_ok_t*>(answer.decoded);
    return broker::QueueState{.messages = state.message_count, .consumers = state.consumer_count};
}

Result<broker::QueueState> RabbitmqLink::Inspect(const std::string& queue) { return Look(queue); }

Result<void> RabbitmqLink::Purge(const std::string& queue) {
    KSANA_TRY_VOID(broker::CheckQueueName(queue));
    KSANA_TRY_VOID(Ready(kAsk));
    amqp_queue_purge_t purge{};
    purge.queue = Bytes(queue);
    auto done = Call(kAsk, AMQP_QUEUE_PURGE_METHOD, &purge, AMQP_QUEUE_PURGE_OK_METHOD);
    if (!done) return std::move(done).error();
    return {};
}

// The queue is looked at on the other channel first: an error on this one ends all its consumers.
Result<void> RabbitmqLink::Consume(const std::string& queue, std::size_t prefetch) {
    KSANA_TRY_VOID(broker::CheckPrefetch(prefetch));
    KSANA_TRY_VOID(Look(queue));
    KSANA_TRY_VOID(Ready(kWork));
    amqp_basic_qos_t qos{};
    qos.prefetch_count = static_cast<std::uint16_t>(prefetch);
    qos.global = 1;  // over all consumers of the channel
    KSANA_TRY_VOID(Call(kWork, AMQP_BASIC_QOS_METHOD, &qos, AMQP_BASIC_QOS_OK_METHOD));
    const auto consumes = [&](const auto& consumer) { return consumer.second == queue; };
    if (std::ranges::any_of(consumers_, consumes)) return {};
    amqp_basic_consume_t consume{};
    consume.queue = Bytes(queue);
    KSANA_TRY(const amqp_method_t answer,
              Call(kWork, AMQP_BASIC_CONSUME_METHOD, &consume, AMQP_BASIC_CONSUME_OK_METHOD));
    const auto& begun = *static_cast<const amqp_basic_consume_ok_t*>(answer.decoded);
    consumers_.emplace(View(begun.consumer_tag), queue);
    return {};
}

Result<void> RabbitmqLink::StopConsuming() {
    if (failed_) return *failed_;
    while (!consumers_.empty()) {
        const std::string tag = consumers_.begin()->first;
        amqp_basic_cancel_t cancel{};
        cancel.consumer_tag = Bytes(tag);
        KSANA_TRY_VOID(Call(kWork, AMQP_BASIC_CANCEL_METHOD, &cancel, AMQP_BASIC_CANCEL_OK_METHOD));
        consumers_.erase(tag);
    }
    return Reject(inbox_.TakeTags(), true);
}

Result<std::vector<broker::Delivery>> RabbitmqLink::Receive(Duration wait, std::size_t most) {
    if (failed_) return *failed_;
    const SteadyPoint deadline = In(wait);
    // At least once, as heartbeats are sent and heard with it.
    do {
        // Once something is there, only what has arrived as well.
        const bool waits = inbox_.empty() && !ended_;
        KSANA_TRY(const amqp_frame_t* const frame,
                  Next({.until = waits ? deadline : SteadyPoint::min(), .wake = wake_->file()}));
        if (frame == nullptr) break;
        KSANA_TRY_VOID(Take(*frame));
    } while (inbox_.size() < most && inbox_.bytes() < broker::kMaxReceivedBytes);
    if (inbox_.empty()) {
        wake_->Clear();
        if (ended_) return *std::exchange(ended_, std::nullopt);
    }
    return inbox_.Take(most);
}

Result<void> RabbitmqLink::Acknowledge(const std::vector<std::uint64_t>& tags) {
    if (failed_) return *failed_;
    const Inbox::Done done = inbox_.Settle(tags);
    amqp_basic_ack_t ack{};
    if (done.up_to != 0) {
        ack.delivery_tag = done.up_to;
        ack.multiple = 1;
        KSANA_TRY_VOID(Send(AMQP_BASIC_ACK_METHOD, &ack));
    }
    ack.multiple = 0;
    for (const std::uint64_t tag : done.single) {
        ack.delivery_tag = tag;
        KSANA_TRY_VOID(Send(AMQP_BASIC_ACK_METHOD, &ack));
    }
    return Push();
}

Result<void> RabbitmqLink::Reject(const std::vector<std::uint64_t>& tags, bool requeue) {
    if (failed_) return *failed_;
    amqp_basic_reject_t reject{};
    reject.requeue = requeue ? 1 : 0;
    for (const std::uint64_t tag : inbox_.SettleEach(tags)) {
        reject.delivery_tag = tag;
        KSANA_TRY_VOID(Send(AMQP_BASIC_REJECT_METHOD, &reject));
    }
    return Push();
}

}  // namespace ksana::broker_rabbitmq
