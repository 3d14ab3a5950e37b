#include "ksana/server/metrics/engine_metrics.hpp"

#include "ksana/engine/limits/limits.hpp"
#include "ksana/model/enum_names.hpp"
#include "ksana/model/run/trace_context.hpp"
#include "ksana/telemetry/instruments.hpp"

namespace ksana::server {
namespace {

using model::EventKind;
using model::RunState;

// The ends of an attempt that an executor may report.
constexpr std::array kReports = {
    EventKind::kSuccess, EventKind::kRetryableFailure, EventKind::kPermanentFailure,
    EventKind::kTimeout, EventKind::kCancelled,        EventKind::kShutdown,
    EventKind::kSnooze};

}  // namespace

EngineMetrics::EngineMetrics(telemetry::Registry& registry, store::Store& store, const Clock& clock,
                             TypeLabels& labels)
    : clock_(clock),
      types_(registry, labels),
      planned_jobs_(registry.AddCounter(
          {"ksana_jobs_planned_total", "Jobs whose due fires this node has accounted for."})),
      fires_(
          registry.AddCounter({"ksana_fires_total", "Runs that fires have made, on this node."})),
      without_run_(registry.AddCounters(
          {"ksana_fires_without_run_total",
           "Fires that this node has accounted for without making a run, by their fate.",
           {"fate"}})),
      started_(registry.AddCounter(
          {"ksana_attempts_started_total", "Attempts that this node has started."})),
      lateness_(registry.AddHistogram(
          {"ksana_start_lateness_seconds", "How long after its time an attempt was started."},
          telemetry::LatenessBuckets())),
      durations_(registry.AddHistogram(
          {"ksana_attempt_duration_seconds", "How long attempts took, however they ended."},
          telemetry::DurationBuckets())),
      refused_(registry.AddCounter({"ksana_reports_refused_total",
                                    "Reports for attempts that were no longer the reporter's."})),
      reaped_(registry.AddCounter(
          {"ksana_runs_reaped_total", "Runs taken from an owner that was silent or too slow."})),
      purged_(registry.AddCounter(
          {"ksana_runs_purged_total", "Finished runs deleted because of their age."})),
      commits_(registry.AddCounter(
          {"ksana_store_commits_total", "Commits of the store that this node has seen."})),
      step_errors_(registry.AddCounters(
          {"ksana_loop_errors_total", "Steps of the engine that failed.", {"loop"}})),
      step_durations_(registry.AddHistograms(
          {"ksana_loop_step_duration_seconds", "How long steps of the engine took.", {"loop"}},
          telemetry::DurationBuckets())),
      step_delays_(registry.AddHistograms(
          {"ksana_loop_delay_seconds",
           "How long after the time that a loop of the engine had wished for its step began.",
           {"loop"}},
          telemetry::LatenessBuckets())),
      deferred_(registry.AddCounters({"ksana_runs_deferred_total",
                                      "Runs given back because a limit or a breaker was in their "
                                      "way, by what it was for.",
                                      {"reason", "kind"}})) {
    auto& attempts = registry.AddCounters(
        {"ksana_attempts_ended_total", "Attempts that ended on this node.", {"outcome"}});
    for (const EventKind kind : kReports) {
        attempts_.at(static_cast<std::size_t>(kind)) = &attempts.With({model::NameOf(kind)});
    }
    auto& finished = registry.AddCounters(
        {"ksana_runs_finished_total",
         "Runs that reached a final state on this node; missed: fires that were too late for one.",
         {"state"}});
    for (std::size_t n = 0; n < finished_.size(); ++n) {
        const auto state = static_cast<RunState>(n);
        if (model::IsFinal(state)) finished_.at(n) = &finished.With({model::NameOf(state)});
    }
    AddSuccessRatio(registry);
    commits_seen_ =
        store.changes().Subscribe(store::Topics::All(), [this](store::Topics) { commits_.Add(); });
}

// D-14
void EngineMetrics::AddSuccessRatio(telemetry::Registry& registry) {
    success_ratio_ = registry.AddCallbackGauge(
        {"ksana_runs_success_ratio",
         "Share of succeeded runs among those that succeeded, failed or timed out on this node "
         "since its start."},
        [this](telemetry::Samples& samples) {
            const auto count = [this](RunState state) {
                return static_cast<double>(finished_.at(static_cast<std::size_t>(state))->value());
            };
            const double good = count(RunState::kSucceeded);
            const double all = good + count(RunState::kFailed) + count(RunState::kTimedOut);
            if (all > 0) samples.Add({}, good / all);
        });
}

telemetry::Exemplar EngineMetrics::ExemplarOf(const model::Run& run) const {
    return {.trace_id = model::TraceIdOf(run), .at = clock_.Now()};
}

void EngineMetrics::Deferred(const model::Run& /*run*/, const model::WaitCause& cause) {
    deferred_.With({model::NameOf(cause.reason), model::NameOf(engine::KindOfLimitKey(cause.key))})
        .Add();
}

void EngineMetrics::Planned(std::size_t jobs, std::size_t runs) {
    planned_jobs_.Add(jobs);
    fires_.Add(runs);
}

void EngineMetrics::NotRun(model::FireFate fate, std::size_t fires) {
    without_run_.With({model::NameOf(fate)}).Add(fires);
    if (fate == model::FireFate::kMissed) CountFinal(RunState::kMissed, fires);
}

void EngineMetrics::Skipped(std::size_t runs) { CountFinal(RunState::kSkipped, runs); }

void EngineMetrics::Started(const model::Run& run, Duration late) {
    started_.Add();
    lateness_.Observe(late, [&] { return ExemplarOf(run); });
}

void EngineMetrics::Ended(const engine::AttemptEnd& end) {
    const auto exemplar = [&] { return ExemplarOf(end.run); };
    durations_.Observe(end.took, exemplar);
    types_.CountAttempt(end.run.kind, end.run.type, end.event.kind, end.took, exemplar);
    telemetry::Counter* const outcome = attempts_.at(static_cast<std::size_t>(end.event.kind));
    if (outcome != nullptr) outcome->AddOne(exemplar);
    const bool taken = end.applied.verdict == model::EventVerdict::kApplied ||
                       end.applied.verdict == model::EventVerdict::kDuplicate;
    if (!taken) {
        refused_.Add();
        return;
    }
    CountFinal(end.applied);
}

void EngineMetrics::Reported(EventKind kind, const store::Applied& applied) {
    if (applied.verdict == model::EventVerdict::kDuplicate) return;
    if (applied.verdict != model::EventVerdict::kApplied) {
        refused_.Add();
        return;
    }
    telemetry::Counter* const outcome = attempts_.at(static_cast<std::size_t>(kind));
    if (outcome == nullptr) return;  // a heartbeat
    outcome->Add();
    types_.CountAttempt(applied.kind, applied.type, kind, applied.took,
                        [] { return telemetry::Exemplar(); });
    CountFinal(applied);
}

void EngineMetrics::Reaped(const model::Run& run) {
    reaped_.Add();
    CountFinal({.state = run.status.state, .kind = run.kind, .type = run.type});
}

void EngineMetrics::CountFinal(RunState state, std::size_t runs) {
    telemetry::Counter* const counter = finished_.at(static_cast<std::size_t>(state));
    if (counter != nullptr) counter->Add(runs);
}

void EngineMetrics::CountFinal(const store::Applied& applied) {
    if (!model::IsFinal(applied.state)) return;
    CountFinal(applied.state);
    types_.CountFinal(applied.kind, applied.type, applied.state);
}

void EngineMetrics::Purged(std::size_t runs) { purged_.Add(runs); }

void EngineMetrics::Stepped(const engine::LoopStep& step) {
    step_durations_.With({step.loop}).Observe(step.took);
    if (step.late) step_delays_.With({step.loop}).Observe(*step.late);
}

void EngineMetrics::StepFailed(std::string_view loop, const Error& /*error*/) {
    step_errors_.With({loop}).Add();
}

}  // namespace ksana::server
