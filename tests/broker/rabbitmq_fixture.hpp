#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "ksana/base/time/clock.hpp"
#include "ksana/broker_rabbitmq/rabbitmq_broker.hpp"
#include "support/rabbitmq_server.hpp"

namespace ksana::brokers {

inline const SystemClock& RealClock() {
    static const SystemClock clock;
    return clock;
}

inline std::unique_ptr<broker::Broker> OpenBroker(const broker::BrokerUrl& url,
                                                  Duration timeout = std::chrono::seconds(30)) {
    auto opened =
        broker_rabbitmq::OpenRabbitmq({.url = url, .clock = RealClock(), .timeout = timeout});
    if (opened) return *std::move(opened);
    ADD_FAILURE() << opened.error().Describe();
    return nullptr;
}

inline std::unique_ptr<broker::Link> OpenLink(const broker::BrokerUrl& url,
                                              Duration timeout = std::chrono::seconds(30)) {
    auto link = OpenBroker(url, timeout)->Open("ksana test");
    if (link) return *std::move(link);
    ADD_FAILURE() << link.error().Describe();
    return nullptr;
}

}  // namespace ksana::brokers
