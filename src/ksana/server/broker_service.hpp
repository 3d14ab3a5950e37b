#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ksana/broker/broker.hpp"
#include "ksana/engine/broker/broker_publisher.hpp"
#include "ksana/engine/broker/status_listener.hpp"
#include "ksana/server/settings/settings.hpp"
#include "ksana/telemetry/registry.hpp"

namespace ksana::server {

// Opens the driver of the message broker; null: tasks are fetched from the servers. Does not
// connect. `clock` must outlive it. Fails with kUnimplemented if the client library is not
// installed, with kInvalidArgument if a file of the URL cannot be read.
Result<std::unique_ptr<broker::Broker>> OpenBroker(const Settings& settings, const Clock& clock);

// What a server has of a message broker: the publisher and the listener, with their metrics. Owned
// by the application; what `Parts` refers to must outlive it.
class BrokerService final : public Service {
  public:
    struct Parts {
        engine::AgentService& agents;
        engine::AgentPolls& polls;
        store::Store& store;
        Clock& clock;
        Random& random;  // thread-safe
        telemetry::Registry& metrics;
        model::TraceSampler sampler;
    };
    BrokerService(const Settings& settings, std::unique_ptr<broker::Broker> broker,
                  const Parts& parts);

    std::string_view name() const override { return "broker"; }
    Result<void> Start() override;
    void Stop() override;

    // Whether such a run goes to workers through the broker.
    bool Publishes(const model::Run& run) const { return publisher_.Publishes(run); }
    // Fails if tasks cannot be published, or reports not be heard.
    Result<void> Check() const;
    // Asks the consumer that has the run to stop; runs that others have, too: nobody hears it.
    void Cancel(const model::Run& run);

  private:
    void AddMetrics(telemetry::Registry& metrics);

    const std::unique_ptr<broker::Broker> broker_;
    const engine::BrokerQueues queues_;
    engine::BrokerPublisher publisher_;
    engine::StatusListener listener_;
    std::vector<telemetry::CallbackHandle> callbacks_;
};

}  // namespace ksana::server
