#pragma once

#include "ksana/engine/observer.hpp"
#include "ksana/model/run/trace_context.hpp"
#include "ksana/store/store.hpp"
#include "ksana/telemetry/traces/span_exporter.hpp"

namespace ksana::server {

// Exports the spans of runs: those of an attempt when it ends, the root when the run does (0037).
// Passes every event on to the next observer. There is none without an exporter. Owned by
// Application. Thread-safe; nothing here waits, as spans are queued only.
class RunTraces final : public engine::Observer {
  public:
    // All must outlive this object. The exporter's thread reads `store`.
    RunTraces(telemetry::SpanExporter& exporter, store::Store& store,
              const model::TraceSampler& sampler, engine::Observer& next)
        : exporter_(exporter), store_(store), sampler_(sampler), next_(next) {}

    void Planned(std::size_t jobs, std::size_t runs) override { next_.Planned(jobs, runs); }
    void NotRun(model::FireFate fate, std::size_t fires) override { next_.NotRun(fate, fires); }
    void Skipped(std::size_t runs) override { next_.Skipped(runs); }
    void Started(const model::Run& run, Duration late) override { next_.Started(run, late); }
    void Ended(const engine::AttemptEnd& end) override;
    void Reported(model::EventKind kind, const store::Applied& applied) override;
    void Deferred(const model::Run& run, const model::WaitCause& cause) override {
        next_.Deferred(run, cause);
    }
    void Closed(const model::Run& run) override;
    void Reaped(const model::Run& run) override;
    void Purged(std::size_t runs) override { next_.Purged(runs); }
    void Stepped(const engine::LoopStep& step) override { next_.Stepped(step); }
    void StepFailed(std::string_view loop, const Error& error) override {
        next_.StepFailed(loop, error);
    }

  private:
    // `run` is as of its last change.
    void Export(const model::Run& run, const model::Job* job, std::optional<TimePoint> ready_at);
    void ExportParent(const model::Run& callback);

    telemetry::SpanExporter& exporter_;
    store::Store& store_;
    const model::TraceSampler sampler_;
    engine::Observer& next_;
};

}  // namespace ksana::server
