#pragma once

#include <string>
#include <vector>

#include "ksana/base/time/clock.hpp"
#include "ksana/engine/alerts/alert_repository.hpp"
#include "ksana/engine/node.hpp"
#include "ksana/server/metrics/cached_read.hpp"
#include "ksana/server/metrics/type_labels.hpp"
#include "ksana/store/store.hpp"
#include "ksana/telemetry/registry.hpp"

namespace ksana::server {

// Gauges of what is now: queues, servers, workers, limits, breakers and alerts, read at a scrape
// from the node's memory or by a CachedRead of the store. Owned by Application.
class NodeGauges {
  public:
    // All arguments must outlive this object.
    NodeGauges(telemetry::Registry& registry, store::Store& store, const engine::Node& node,
               const Clock& clock, TypeLabels& labels);

  private:
    using Depths = std::vector<store::QueueDepth>;
    using Incidents = std::vector<engine::StoredIncident>;

    void Add(telemetry::MetricSpec spec, telemetry::Collect collect);
    void AddQueues();
    void AddFires();
    void AddNodes();
    void AddWorkers();
    void AddLimits();
    void AddBreakers();
    void AddAlerts();
    void AddLimit(const std::string& name, const std::string& help,
                  std::function<std::optional<double>(const engine::LimitUse&)> count);
    void CollectAges(const Depths& depths, telemetry::Samples& samples) const;

    telemetry::Registry& registry_;
    const engine::Node& node_;
    TypeLabels& labels_;
    engine::AlertRepository alerts_;
    CachedRead<Depths> depths_;
    CachedRead<store::WakeTimes> wakes_;
    CachedRead<Incidents> incidents_;
    std::vector<telemetry::CallbackHandle> callbacks_;
};

}  // namespace ksana::server
