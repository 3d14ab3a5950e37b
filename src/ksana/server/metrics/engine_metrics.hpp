#pragma once

#include <array>

#include "ksana/base/time/clock.hpp"
#include "ksana/engine/observer.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/server/metrics/type_metrics.hpp"
#include "ksana/store/change_feed.hpp"
#include "ksana/store/store.hpp"
#include "ksana/telemetry/registry.hpp"

namespace ksana::server {

// Counts what the engine tells its observer, on the engine's threads. Owned by Application.
// Thread-safe.
class EngineMetrics final : public engine::Observer {
  public:
    // All arguments must outlive this object.
    EngineMetrics(telemetry::Registry& registry, store::Store& store, const Clock& clock,
                  TypeLabels& labels);

    void Planned(std::size_t jobs, std::size_t runs) override;
    void NotRun(model::FireFate fate, std::size_t fires) override;
    void Skipped(std::size_t runs) override;
    void Started(const model::Run& run, Duration late) override;
    void Ended(const engine::AttemptEnd& end) override;
    void Deferred(const model::Run& run, const model::WaitCause& cause) override;
    void Reported(model::EventKind kind, const store::Applied& applied) override;
    void Reaped(const model::Run& run) override;
    void Purged(std::size_t runs) override;
    void Stepped(const engine::LoopStep& step) override;
    void StepFailed(std::string_view loop, const Error& error) override;

  private:
    void AddSuccessRatio(telemetry::Registry& registry);
    void CountFinal(model::RunState state, std::size_t runs = 1);
    void CountFinal(const store::Applied& applied);
    telemetry::Exemplar ExemplarOf(const model::Run& run) const;

    const Clock& clock_;
    TypeMetrics types_;
    telemetry::Counter& planned_jobs_;
    telemetry::Counter& fires_;
    telemetry::Family<telemetry::Counter>& without_run_;
    telemetry::Counter& started_;
    telemetry::Histogram& lateness_;
    telemetry::Histogram& durations_;
    telemetry::Counter& refused_;
    telemetry::Counter& reaped_;
    telemetry::Counter& purged_;
    telemetry::Counter& commits_;
    telemetry::Family<telemetry::Counter>& step_errors_;
    telemetry::Family<telemetry::Histogram>& step_durations_;
    telemetry::Family<telemetry::Histogram>& step_delays_;
    telemetry::Family<telemetry::Counter>& deferred_;
    std::array<telemetry::Counter*, model::kEnumCount<model::EventKind>> attempts_{};
    std::array<telemetry::Counter*, model::kEnumCount<model::RunState>> finished_{};
    telemetry::CallbackHandle success_ratio_;
    store::ChangeFeed::Subscription commits_seen_;
};

}  // namespace ksana::server
