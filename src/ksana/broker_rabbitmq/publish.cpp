#include "ksana/broker/check.hpp"
#include "ksana/broker_rabbitmq/rabbitmq_link.hpp"

// How a link publishes. Messages are sent as fast as the network takes them, while the answers come
// in; only the end of the batch is waited for.

namespace ksana::broker_rabbitmq {
namespace {

constexpr std::uint8_t kTransient = 1;
constexpr std::uint8_t kPersistent = 2;

}  // namespace

Result<std::vector<broker::PublishVerdict>> RabbitmqLink::Publish(
    const std::vector<broker::OutMessage>& messages, Duration within) {
    KSANA_TRY_VOID(broker::CheckMessages(messages));
    const SteadyPoint deadline = In(within);
    KSANA_TRY_VOID(Ready(kWork));
    confirms_.Begin(messages);
    auto done = SendBatch(messages, deadline);
    if (done) done = AwaitConfirms(deadline);
    const bool none_sent = confirms_.sent() == 0;
    std::vector<broker::PublishVerdict> verdicts = confirms_.Take();
    if (!done && none_sent) return std::move(done).error();
    return verdicts;
}

// Stops at the deadline, and if the channel is closed meanwhile.
Result<void> RabbitmqLink::SendBatch(const std::vector<broker::OutMessage>& messages,
                                     SteadyPoint deadline) {
    for (const broker::OutMessage& message : messages) {
        while (!connection_->room() || blocked()) {
            // The answers that have come are taken with it.
            KSANA_TRY(const amqp_frame_t* const frame,
                      Next({.until = deadline, .or_room = !blocked()}));
            if (frame != nullptr) {
                KSANA_TRY_VOID(Take(*frame));
            } else if (!connection_->room() || blocked()) {
                return {};
            }
            if (!open_[kWork]) return {};
        }
        KSANA_TRY_VOID(SendOne(message));
        confirms_.Sent();
    }
    return {};
}

Result<void> RabbitmqLink::SendOne(const broker::OutMessage& message) {
    header_entries_.clear();
    for (const auto& [name, value] : message.message.headers) {
        header_entries_.push_back(TextEntry(name, value));
    }
    amqp_basic_publish_t publish{};
    publish.routing_key = Bytes(message.queue);
    publish.mandatory = message.transient ? 0 : 1;
    amqp_basic_properties_t properties{};
    properties._flags =
        AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_PRIORITY_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG;
    properties.delivery_mode = message.transient ? kTransient : kPersistent;
    properties.priority =
        static_cast<std::uint8_t>(std::clamp<std::int32_t>(message.message.priority, 0, 255));
    properties.message_id = Bytes(message.message.id);
    if (!header_entries_.empty()) {
        properties._flags |= AMQP_BASIC_HEADERS_FLAG;
        properties.headers = {.num_entries = static_cast<int>(header_entries_.size()),
                              .entries = header_entries_.data()};
    }
    return connection_->SendMessage(kWork, publish, properties, message.message.body);
}

Result<void> RabbitmqLink::AwaitConfirms(SteadyPoint deadline) {
    while (open_[kWork] && !confirms_.all_answered()) {
        KSANA_TRY(const amqp_frame_t* const frame, Next({.until = deadline}));
        if (frame == nullptr) return {};
        KSANA_TRY_VOID(Take(*frame));
    }
    return {};
}

}  // namespace ksana::broker_rabbitmq
