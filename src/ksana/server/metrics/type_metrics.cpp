#include "ksana/server/metrics/type_metrics.hpp"

namespace ksana::server {

TypeMetrics::TypeMetrics(telemetry::Registry& registry, TypeLabels& labels)
    : labels_(labels),
      attempts_(registry.AddCounters({"ksana_type_attempts_total",
                                      "Attempts that ended, by type of their run, those of agents "
                                      "and workers that reported to this node included.",
                                      {"kind", "type", "outcome"},
                                      TypeLabels::kMostSets})),
      runs_(registry.AddCounters({"ksana_type_runs_total",
                                  "Runs that reached a final state, by type.",
                                  {"kind", "type", "state"},
                                  TypeLabels::kMostSets})),
      durations_(registry.AddHistograms({"ksana_type_attempt_duration_seconds",
                                         "How long attempts took, by type of their run.",
                                         {"kind", "type"},
                                         TypeLabels::kMostSets},
                                        telemetry::DurationBuckets())) {}

TypeMetrics::OneType& TypeMetrics::Find(model::ActionKind kind, const std::string& type) {
    auto& types = types_.at(static_cast<std::size_t>(kind));
    const auto found = types.find(type);
    if (found != types.end()) return found->second;
    std::string label = labels_.Of(kind, type);
    OneType& one = types[label];
    if (one.durations == nullptr) {
        one.durations = &durations_.With({model::NameOf(kind), label});
        one.label = std::move(label);
    }
    return one;
}

void TypeMetrics::CountOutcome(model::ActionKind kind, OneType& one, model::EventKind outcome) {
    telemetry::Counter*& counter = one.outcomes.at(static_cast<std::size_t>(outcome));
    if (counter == nullptr) {
        counter = &attempts_.With({model::NameOf(kind), one.label, model::NameOf(outcome)});
    }
    counter->Add();
}

void TypeMetrics::CountFinal(model::ActionKind kind, const std::string& type,
                             model::RunState state) {
    const MutexLock lock(mutex_);
    OneType& one = Find(kind, type);
    telemetry::Counter*& counter = one.states.at(static_cast<std::size_t>(state));
    if (counter == nullptr) {
        counter = &runs_.With({model::NameOf(kind), one.label, model::NameOf(state)});
    }
    counter->Add();
}

}  // namespace ksana::server
