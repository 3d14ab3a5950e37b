#include "ksana/server/metrics/engine_metrics.hpp"

#include "ksana/model/enum_names.hpp"
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

EngineMetrics::EngineMetrics(telemetry::Registry& registry, store::Store& store)
    : store_(store),
      planned_jobs_(registry.AddCounter(
          {"ksana_jobs_planned_total", "Jobs whose due fires this node has accounted for."})),
      fires_(
          registry.AddCounter({"ksana_fires_total", "Runs that fires have made, on this node."})),
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
        {"ksana_runs_finished_total", "Runs that reached a final state on this node.", {"state"}});
    for (std::size_t n = 0; n < finished_.size(); ++n) {
        const auto state = static_cast<RunState>(n);
        if (model::IsFinal(state)) finished_.at(n) = &finished.With({model::NameOf(state)});
    }
    commits_seen_ =
        store.changes().Subscribe(store::Topics::All(), [this](store::Topics) { commits_.Add(); });
}

void EngineMetrics::Watch(telemetry::Registry& registry, const engine::Node* node) {
    callbacks_.clear();
    if (node == nullptr) return;
    WatchLimits(registry, *node);
    callbacks_.push_back(
        registry.AddCallbackGauge({"ksana_attempts_under_way", "Attempts under way on this node."},
                                  [node](telemetry::Samples& samples) {
                                      samples.Add({}, static_cast<double>(node->UnderWay()));
                                  }));
    callbacks_.push_back(registry.AddCallbackGauge(
        {"ksana_nodes", "Servers that share the store.", {"state"}},
        [node](telemetry::Samples& samples) {
            const auto nodes = node->Nodes();
            if (!nodes) return;
            std::array<std::size_t, model::kEnumCount<model::NodeState>> counts{};
            for (const engine::NodeStatus& one : *nodes) {
                ++counts.at(static_cast<std::size_t>(one.state));
            }
            for (std::size_t n = 0; n < counts.size(); ++n) {
                samples.Add({model::NameOf(static_cast<model::NodeState>(n))},
                            static_cast<double>(counts.at(n)));
            }
        }));
    callbacks_.push_back(registry.AddCallbackGauge(
        {"ksana_runs_waiting",
         "Runs that are not finished, in the whole store.",
         {"kind", "state"}},
        [this](telemetry::Samples& samples) {
            const auto depths = store_.runs().Depths();
            if (!depths) return;
            for (const store::QueueDepth& depth : *depths) {
                samples.Add({model::NameOf(depth.kind), model::NameOf(depth.state)},
                            static_cast<double>(depth.count));
            }
        }));
}

void EngineMetrics::WatchLimits(telemetry::Registry& registry, const engine::Node& node) {
    const auto add = [&](std::string name, std::string help, auto count) {
        callbacks_.push_back(
            registry.AddCallbackGauge({std::move(name), std::move(help), {"kind", "name"}},
                                      [&node, count](telemetry::Samples& samples) {
                                          for (const engine::LimitUse& use : node.LimitUses()) {
                                              if (!use.limit.max_concurrency && !use.limit.rate)
                                                  continue;
                                              samples.Add({model::NameOf(use.kind), use.name},
                                                          static_cast<double>(count(use)));
                                          }
                                      }));
    };
    add("ksana_limit_in_use", "Attempts under way that count for a limit.",
        [](const engine::LimitUse& use) { return use.in_use; });
    add("ksana_limit_waiting", "Runs that wait in memory for a limit.",
        [](const engine::LimitUse& use) { return use.waiting; });
    callbacks_.push_back(registry.AddCallbackGauge(
        {"ksana_breakers", "Destinations whose breaker is not closed.", {"state"}},
        [&node](telemetry::Samples& samples) {
            std::array<std::size_t, model::kEnumCount<engine::BreakerState>> counts{};
            for (const engine::LimitUse& use : node.LimitUses()) {
                if (use.breaker) ++counts.at(static_cast<std::size_t>(use.breaker->state));
            }
            for (const auto state :
                 {engine::BreakerState::kOpen, engine::BreakerState::kHalfOpen}) {
                samples.Add({model::NameOf(state)},
                            static_cast<double>(counts.at(static_cast<std::size_t>(state))));
            }
        }));
}

void EngineMetrics::Deferred(const model::Run& /*run*/, const model::WaitCause& cause) {
    deferred_.With({model::NameOf(cause.reason), model::NameOf(engine::KindOfLimitKey(cause.key))})
        .Add();
}

void EngineMetrics::Planned(std::size_t jobs, std::size_t runs) {
    planned_jobs_.Add(jobs);
    fires_.Add(runs);
}

void EngineMetrics::Started(const model::Run& /*run*/, Duration late) {
    started_.Add();
    lateness_.Observe(late);
}

void EngineMetrics::Ended(const engine::AttemptEnd& end) {
    durations_.Observe(end.took);
    telemetry::Counter* const outcome = attempts_.at(static_cast<std::size_t>(end.event.kind));
    if (outcome != nullptr) outcome->Add();
    const bool taken = end.applied.verdict == model::EventVerdict::kApplied ||
                       end.applied.verdict == model::EventVerdict::kDuplicate;
    if (!taken) {
        refused_.Add();
        return;
    }
    CountFinal(end.applied.state);
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
    CountFinal(applied.state);
}

void EngineMetrics::Reaped(const model::Run& run) {
    reaped_.Add();
    CountFinal(run.status.state);
}

void EngineMetrics::CountFinal(RunState state) {
    telemetry::Counter* const counter = finished_.at(static_cast<std::size_t>(state));
    if (counter != nullptr) counter->Add();
}

void EngineMetrics::Purged(std::size_t runs) { purged_.Add(runs); }

void EngineMetrics::StepFailed(std::string_view loop, const Error& /*error*/) {
    step_errors_.With({loop}).Add();
}

}  // namespace ksana::server
