#pragma once

#include <memory>

#include "ksana/base/time/clock.hpp"
#include "ksana/broker/broker.hpp"
#include "ksana/broker/broker_url.hpp"

namespace ksana::broker_rabbitmq {

struct RabbitmqOptions {
    broker::BrokerUrl url;
    const Clock& clock;  // must outlive the broker; only its steady time is used
    // For Open, and for every call that waits for an answer and is not told for how long. Looking
    // up a host name is not included.
    Duration timeout = std::chrono::seconds(10);
};

// Connects with Open. Returns kInvalidArgument for a file of the URL that cannot be read,
// kUnimplemented if librabbitmq is not installed.
//
// Queues are classic ones of the default exchange, declared durable unless they are exclusive. A
// queue with a bound refuses what is beyond it (x-overflow: reject-publish). Rejected messages go
// to the dead letters through the default exchange, and RabbitMQ adds an x-death header. Headers of
// other types than text are handed out as text: numbers in decimal, tables and arrays as JSON.
Result<std::unique_ptr<broker::Broker>> OpenRabbitmq(RabbitmqOptions options);

}  // namespace ksana::broker_rabbitmq
