#pragma once

#include <string>
#include <vector>

#include "ksana/broker/broker.hpp"

// What every driver refuses alike, before anything is sent: kInvalidArgument.

namespace ksana::broker {

Result<void> CheckQueue(const QueueSpec& queue);
Result<void> CheckQueueName(const std::string& name);
Result<void> CheckMessages(const std::vector<OutMessage>& messages);
Result<void> CheckPrefetch(std::size_t prefetch);

}  // namespace ksana::broker
