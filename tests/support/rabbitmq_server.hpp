#pragma once

#include <string>

#include "ksana/broker/broker_url.hpp"
#include "support/temporary_folder.hpp"

namespace ksana::testing {

// The broker that ./dev has started for the tests, over TCP (KSANA_TEST_RABBITMQ) and over TLS
// (KSANA_TEST_RABBITMQ_TLS). Fails the test if there is none: a skipped test proves nothing.
broker::BrokerUrl SharedRabbitmq();
broker::BrokerUrl SharedRabbitmqTls();
// Runs rabbitmqctl on it and returns what it prints.
std::string RunSharedRabbitmqctl(const std::string& words);

// A RabbitMQ of one test, which the test may break. The destructor ends it. Takes some seconds to
// start. Owned by the test; one thread.
class PrivateRabbitmq {
  public:
    PrivateRabbitmq();
    ~PrivateRabbitmq();
    PrivateRabbitmq(const PrivateRabbitmq&) = delete;
    PrivateRabbitmq& operator=(const PrivateRabbitmq&) = delete;

    const broker::BrokerUrl& url() const { return url_; }

    void Kill();   // the process ends at once
    void Start();  // again, on the same ports and with its data
    void Ctl(const std::string& words);

  private:
    test::TemporaryFolder folder_;
    broker::BrokerUrl url_;
};

}  // namespace ksana::testing
