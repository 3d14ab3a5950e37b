#include "ksana/broker_rabbitmq/inbox.hpp"

#include <algorithm>
#include <utility>

namespace ksana::broker_rabbitmq {
namespace {

constexpr int kTagBits = 48;  // of the broker's number; the others are of the channel
constexpr std::uint64_t kTagMask = (std::uint64_t{1} << kTagBits) - 1;

std::string CopyOf(const amqp_bytes_t& bytes) { return std::string(View(bytes)); }

}  // namespace

void Inbox::Begin(const amqp_basic_deliver_t& method) {
    kind_ = Kind::kDelivery;
    delivery_ = {};
    delivery_.tag = (channel_ << kTagBits) | (method.delivery_tag & kTagMask);
    delivery_.redelivered = method.redelivered != 0;
    unacknowledged_.insert(unacknowledged_.end(), method.delivery_tag);
}

void Inbox::Begin(const amqp_basic_return_t& method) {
    kind_ = Kind::kReturn;
    return_ = {.id = {}, .queue = CopyOf(method.routing_key)};
}

Inbox::Complete Inbox::Header(const amqp_frame_t& frame) {
    // librabbitmq gives each class of content properties of another type.
    if (kind_ == Kind::kNothing || frame.payload.properties.class_id != AMQP_BASIC_CLASS) return {};
    const auto& properties =
        *static_cast<const amqp_basic_properties_t*>(frame.payload.properties.decoded);
    remaining_ = frame.payload.properties.body_size;
    too_large_ = remaining_ > broker::kMaxBodyBytes;
    const bool has_id = (properties._flags & AMQP_BASIC_MESSAGE_ID_FLAG) != 0;
    std::string id = has_id ? CopyOf(properties.message_id) : std::string();
    if (kind_ == Kind::kReturn) {
        return_.id = std::move(id);
    } else {
        broker::Message& message = delivery_.message;
        message.id = std::move(id);
        if ((properties._flags & AMQP_BASIC_PRIORITY_FLAG) != 0) {
            message.priority = properties.priority;
        }
        if ((properties._flags & AMQP_BASIC_HEADERS_FLAG) != 0) {
            message.headers = TextsOf(properties.headers);
        }
        if (!too_large_) message.body.reserve(remaining_);
    }
    return remaining_ == 0 ? Finish() : Complete{};
}

Inbox::Complete Inbox::Body(const amqp_frame_t& frame) {
    if (kind_ == Kind::kNothing) return {};
    const std::string_view part = View(frame.payload.body_fragment);
    if (kind_ == Kind::kDelivery && !too_large_) delivery_.message.body += part;
    remaining_ -= std::min<std::uint64_t>(remaining_, part.size());
    return remaining_ == 0 ? Finish() : Complete{};
}

Inbox::Complete Inbox::Finish() {
    Complete complete;
    switch (std::exchange(kind_, Kind::kNothing)) {
        case Kind::kReturn:
            complete.returned = std::move(return_);
            break;
        case Kind::kDelivery:
            if (too_large_) {
                complete.too_large = delivery_.tag & kTagMask;
                unacknowledged_.erase(delivery_.tag & kTagMask);
            } else {
                bytes_ += delivery_.message.body.size();
                deliveries_.push_back(std::move(delivery_));
            }
            break;
        case Kind::kNothing:
            break;
    }
    return complete;
}

std::vector<broker::Delivery> Inbox::Take(std::size_t most) {
    std::vector<broker::Delivery> taken;
    taken.reserve(std::min(most, deliveries_.size()));
    std::size_t bytes = 0;
    while (taken.size() < most && !deliveries_.empty() && bytes < broker::kMaxReceivedBytes) {
        bytes += deliveries_.front().message.body.size();
        taken.push_back(std::move(deliveries_.front()));
        deliveries_.pop_front();
    }
    bytes_ -= bytes;
    return taken;
}

std::vector<std::uint64_t> Inbox::TakeTags() {
    std::vector<std::uint64_t> tags;
    tags.reserve(deliveries_.size());
    for (const broker::Delivery& delivery : deliveries_) tags.push_back(delivery.tag);
    deliveries_.clear();
    bytes_ = 0;
    return tags;
}

std::vector<std::uint64_t> Inbox::SettleEach(const std::vector<std::uint64_t>& tags) {
    std::vector<std::uint64_t> known;
    for (const std::uint64_t tag : tags) {
        if (tag >> kTagBits != channel_) continue;
        if (unacknowledged_.erase(tag & kTagMask) > 0) known.push_back(tag & kTagMask);
    }
    return known;
}

// If all deliveries up to one are done, one number says so.
Inbox::Done Inbox::Settle(const std::vector<std::uint64_t>& tags) {
    Done done;
    done.single = SettleEach(tags);
    const std::uint64_t first_open = unacknowledged_.empty() ? kTagMask : *unacknowledged_.begin();
    std::erase_if(done.single, [&](std::uint64_t tag) {
        if (tag > first_open) return false;
        done.up_to = std::max(done.up_to, tag);
        return true;
    });
    return done;
}

void Inbox::Restart() {
    channel_ = (channel_ + 1) & 0xFFFF;
    kind_ = Kind::kNothing;
    deliveries_.clear();
    bytes_ = 0;
    unacknowledged_.clear();
}

}  // namespace ksana::broker_rabbitmq
