#include "ksana/server/broker_service.hpp"

#include <utility>

#include "ksana/broker_rabbitmq/rabbitmq_broker.hpp"

namespace ksana::server {

Result<std::unique_ptr<broker::Broker>> OpenBroker(const Settings& settings, const Clock& clock) {
    if (!settings.broker) return std::unique_ptr<broker::Broker>();
    return broker_rabbitmq::OpenRabbitmq({.url = *settings.broker, .clock = clock});
}

BrokerService::BrokerService(const Settings& settings, std::unique_ptr<broker::Broker> broker,
                             const Parts& parts)
    : broker_(std::move(broker)),
      queues_(settings.broker_prefix, static_cast<std::size_t>(settings.broker_queue_length)),
      publisher_({.categories = settings.broker_categories,
                  .wait = settings.broker_wait,
                  .sampler = parts.sampler},
                 {.broker = *broker_,
                  .queues = queues_,
                  .agents = parts.agents,
                  .polls = parts.polls,
                  .store = parts.store,
                  .clock = parts.clock,
                  .random = parts.random}),
      listener_({.broker = *broker_,
                 .queues = queues_,
                 .agents = parts.agents,
                 .clock = parts.clock,
                 .random = parts.random,
                 .tell = [this](const std::string& owner, const Uuid& run_id,
                                const std::string& exec_id, std::string_view directive) {
                     publisher_.Tell(owner, run_id, exec_id, directive);
                 }}) {
    AddMetrics(parts.metrics);
}

Result<void> BrokerService::Start() {
    KSANA_TRY_VOID(listener_.Start());
    return publisher_.Start();
}

void BrokerService::Stop() {
    publisher_.Stop();
    listener_.Stop();
}

Result<void> BrokerService::Check() const {
    if (auto fault = publisher_.fault()) return *std::move(fault);
    if (auto fault = listener_.fault()) return *std::move(fault);
    return {};
}

void BrokerService::Cancel(const model::Run& run) {
    publisher_.Tell(run.status.owner, run.id, run.status.exec_id, "cancel");
}

void BrokerService::AddMetrics(telemetry::Registry& metrics) {
    callbacks_.push_back(metrics.AddCallbackGauge(
        {"ksana_broker_up", "1 if the connection to the message broker works.", {"link"}},
        [this](telemetry::Samples& samples) {
            samples.Add({"publisher"}, publisher_.fault() ? 0.0 : 1.0);
            samples.Add({"listener"}, listener_.fault() ? 0.0 : 1.0);
        }));
    callbacks_.push_back(metrics.AddCallbackCounter(
        {"ksana_broker_messages_total",
         "Messages of tasks and reports, by what became of them.",
         {"queue", "outcome"}},
        [this](telemetry::Samples& samples) {
            const auto add = [&](std::string_view queue, std::string_view outcome, auto count) {
                samples.Add({queue, outcome}, static_cast<double>(count));
            };
            const engine::BrokerPublisher::Counts published = publisher_.counts();
            add("tasks", "published", published.published);
            add("tasks", "refused", published.refused);
            add("tasks", "unconfirmed", published.unconfirmed);
            add("tasks", "lost", published.lost);
            const engine::StatusListener::Counts heard = listener_.counts();
            add("status", "applied", heard.applied);
            add("status", "stale", heard.stale);
            add("status", "conflict", heard.conflict);
            add("status", "dead", heard.dead);
        }));
}

}  // namespace ksana::server
