#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ksana/broker/broker.hpp"

namespace ksana::engine {

// The queues of one installation on a message broker, all with names that begin with the prefix.
class BrokerQueues {
  public:
    // `length`: messages that a queue of tasks holds at most.
    BrokerQueues(std::string prefix, std::size_t length);

    // Tasks of a category; of those without one. A priority of 0 to 9 is that of the run.
    broker::QueueSpec Tasks(std::string_view category) const;
    // What consumers say about attempts.
    broker::QueueSpec Status() const;
    // Messages that nobody could read.
    broker::QueueSpec Dead() const;
    // What servers say to one consumer, which declares the queue and has it for itself.
    std::string Worker(std::string_view name) const;

  private:
    const std::string prefix_;
    const std::size_t length_;
};

}  // namespace ksana::engine
