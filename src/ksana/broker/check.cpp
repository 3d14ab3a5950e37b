#include "ksana/broker/check.hpp"

#include <fmt/format.h>

#include "ksana/base/text/utf8.hpp"

namespace ksana::broker {
namespace {

constexpr std::size_t kMaxShortText = 255;  // of the protocol
constexpr std::size_t kMaxHeaderName = 128;
constexpr std::int32_t kMaxPriority = 255;

Error Refusal(std::string why) { return {Code::kInvalidArgument, std::move(why)}; }

Result<void> CheckMessage(const OutMessage& out) {
    const Message& message = out.message;
    KSANA_TRY_VOID(CheckQueueName(out.queue));
    const auto wrong = [&](const std::string& why) {
        return Refusal(fmt::format("the message {} for the queue {} {}", Excerpt(message.id, 64),
                                   Excerpt(out.queue, 64), why));
    };
    if (message.id.size() > kMaxShortText) return wrong("has an id of more than 255 bytes");
    if (message.body.size() > kMaxBodyBytes) {
        return wrong(fmt::format("has {} bytes; a broker takes up to {}", message.body.size(),
                                 kMaxBodyBytes));
    }
    std::size_t headers = 0;
    for (const auto& [name, value] : message.headers) {
        if (name.empty() || name.size() > kMaxHeaderName) {
            return wrong("has a header whose name is not of 1 to 128 bytes");
        }
        headers += name.size() + value.size();
    }
    if (headers > kMaxHeaderBytes) {
        return wrong(fmt::format("has {} bytes of headers; a broker takes up to {}", headers,
                                 kMaxHeaderBytes));
    }
    return {};
}

}  // namespace

Result<void> CheckQueueName(const std::string& name) {
    if (!name.empty() && name.size() <= kMaxShortText) return {};
    return Refusal(fmt::format("the name of a queue has 1 to 255 bytes: {}", Excerpt(name, 64)));
}

Result<void> CheckQueue(const QueueSpec& queue) {
    KSANA_TRY_VOID(CheckQueueName(queue.name));
    if (!queue.dead_letters.empty()) KSANA_TRY_VOID(CheckQueueName(queue.dead_letters));
    if (queue.max_priority >= 0 && queue.max_priority <= kMaxPriority) return {};
    return Refusal(
        fmt::format("max_priority of the queue {} is from 0 to 255", Excerpt(queue.name, 64)));
}

Result<void> CheckMessages(const std::vector<OutMessage>& messages) {
    for (const OutMessage& message : messages) KSANA_TRY_VOID(CheckMessage(message));
    return {};
}

Result<void> CheckPrefetch(std::size_t prefetch) {
    if (prefetch >= 1 && prefetch <= 65'535) return {};
    return Refusal(fmt::format("prefetch is from 1 to 65535, not {}", prefetch));
}

}  // namespace ksana::broker
