#include "broker/broker_fixture.hpp"
#include "broker/rabbitmq_fixture.hpp"

// D-01: the suite on RabbitMQ, over TCP and over TLS.

namespace ksana::brokers {
namespace {

BrokerKind Kind(const char* name, broker::BrokerUrl (*url)()) {
    return {.name = name,
            .open = [url] { return OpenLink(url()); },
            .delete_queue =
                [](const std::string& queue) {
                    testing::RunSharedRabbitmqctl("delete_queue " + queue);
                }};
}

INSTANTIATE_TEST_SUITE_P(Rabbitmq, BrokerTest,
                         ::testing::Values(Kind("tcp", testing::SharedRabbitmq),
                                           Kind("tls", testing::SharedRabbitmqTls)),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace ksana::brokers
