#pragma once

#include <array>
#include <vector>

#include "ksana/engine/node.hpp"
#include "ksana/engine/observer.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/store/change_feed.hpp"
#include "ksana/store/store.hpp"
#include "ksana/telemetry/registry.hpp"

namespace ksana::server {

// The engine's metrics: counts what it observes, on the engine's threads. Owned by Application.
// Thread-safe, except Watch.
class EngineMetrics final : public engine::Observer {
  public:
    // `registry` and `store` must outlive this object.
    EngineMetrics(telemetry::Registry& registry, store::Store& store);

    // Adds the gauges that read `node`. The node is constructed after this object and destroyed
    // before it, so the owner calls Watch with null before the node is destroyed.
    void Watch(telemetry::Registry& registry, const engine::Node* node);

    void Planned(std::size_t jobs, std::size_t runs) override;
    void Started(const model::Run& run, Duration late) override;
    void Ended(const engine::AttemptEnd& end) override;
    void Deferred(const model::Run& run, const model::WaitCause& cause) override;
    void Reported(model::EventKind kind, const store::Applied& applied) override;
    void Reaped(const model::Run& run) override;
    void Purged(std::size_t runs) override;
    void StepFailed(std::string_view loop, const Error& error) override;

  private:
    void CountFinal(model::RunState state);
    void WatchLimits(telemetry::Registry& registry, const engine::Node& node);

    store::Store& store_;
    telemetry::Counter& planned_jobs_;
    telemetry::Counter& fires_;
    telemetry::Counter& started_;
    telemetry::Histogram& lateness_;
    telemetry::Histogram& durations_;
    telemetry::Counter& refused_;
    telemetry::Counter& reaped_;
    telemetry::Counter& purged_;
    telemetry::Counter& commits_;
    telemetry::Family<telemetry::Counter>& step_errors_;
    telemetry::Family<telemetry::Counter>& deferred_;
    std::array<telemetry::Counter*, model::kEnumCount<model::EventKind>> attempts_{};
    std::array<telemetry::Counter*, model::kEnumCount<model::RunState>> finished_{};
    store::ChangeFeed::Subscription commits_seen_;
    std::vector<telemetry::CallbackHandle> callbacks_;
};

}  // namespace ksana::server
