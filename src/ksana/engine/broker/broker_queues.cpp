#include "ksana/engine/broker/broker_queues.hpp"

#include <fmt/core.h>

#include <utility>

#include "ksana/base/ids/hash.hpp"
#include "ksana/base/text/names.hpp"
#include "ksana/model/job/policy.hpp"

namespace ksana::engine {
namespace {

constexpr std::size_t kMostCategory = 150;  // of a category; AMQP takes 255 bytes in all

// Keeps letters, digits and - _ . : and writes other bytes as %XX. A name that gets too long ends
// with a hash instead.
std::string EncodedCategory(std::string_view category) {
    std::string text;
    for (const char c : category) {
        if (IsIdentifierChar(c)) {
            text += c;
        } else {
            text += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    if (text.size() <= kMostCategory) return text;
    return fmt::format("{}-{:016x}", text.substr(0, kMostCategory), HashText(category));
}

}  // namespace

BrokerQueues::BrokerQueues(std::string prefix, std::size_t length)
    : prefix_(std::move(prefix)), length_(length) {}

broker::QueueSpec BrokerQueues::Tasks(std::string_view category) const {
    return {.name = prefix_ + ".tasks" + (category.empty() ? "" : "." + EncodedCategory(category)),
            .max_priority = model::kMaxPriority,
            .max_length = length_,
            .dead_letters = Dead().name};
}

broker::QueueSpec BrokerQueues::Status() const {
    return {.name = prefix_ + ".status", .dead_letters = Dead().name};
}

broker::QueueSpec BrokerQueues::Dead() const { return {.name = prefix_ + ".dead"}; }

std::string BrokerQueues::Worker(std::string_view name) const {
    return prefix_ + ".worker." + EncodedCategory(name);
}

}  // namespace ksana::engine
