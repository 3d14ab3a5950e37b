#include "ksana/server/metrics/node_gauges.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "ksana/model/enum_names.hpp"

namespace ksana::server {
namespace {

using telemetry::Samples;

// Adds one sample for each state, those that count nothing included.
template <class State, std::size_t kCount>
void AddStates(Samples& samples, const std::array<double, kCount>& counts) {
    for (std::size_t n = 0; n < kCount; ++n) {
        samples.Add({model::NameOf(static_cast<State>(n))}, counts.at(n));
    }
}

}  // namespace

NodeGauges::NodeGauges(telemetry::Registry& registry, store::Store& store, const engine::Node& node,
                       const Clock& clock, TypeLabels& labels)
    : registry_(registry),
      node_(node),
      labels_(labels),
      alerts_(store),
      depths_(clock, [&store] { return store.runs().Depths(); }),
      wakes_(clock, [&store] { return store.runs().NextWake(); }),
      incidents_(clock, [this] { return alerts_.AllIncidents(); }) {
    Add({"ksana_attempts_under_way", "Attempts under way on this node."},
        [this](Samples& samples) { samples.Add({}, static_cast<double>(node_.UnderWay())); });
    AddQueues();
    AddFires();
    AddNodes();
    AddWorkers();
    AddLimits();
    AddBreakers();
    AddAlerts();
}

void NodeGauges::Add(telemetry::MetricSpec spec, telemetry::Collect collect) {
    callbacks_.push_back(registry_.AddCallbackGauge(std::move(spec), std::move(collect)));
}

void NodeGauges::AddQueues() {
    Add({"ksana_runs_waiting",
         "Runs that are not finished, in the whole store.",
         {"kind", "state"}},
        [this](Samples& samples) {
            const auto depths = depths_.Get();
            if (!depths) return;
            for (const store::QueueDepth& depth : *depths) {
                samples.Add({model::NameOf(depth.kind), model::NameOf(depth.state)},
                            static_cast<double>(depth.count));
            }
        });
    Add({"ksana_queue_depth",
         "Runs that are not finished, in the whole store, by type.",
         {"kind", "type", "state"},
         TypeLabels::kMostSets},
        [this](Samples& samples) {
            const auto depths = depths_.Get();
            if (!depths) return;
            for (const store::QueueDepth& depth : *depths) {
                samples.Add({model::NameOf(depth.kind), labels_.Of(depth.kind, depth.type),
                             model::NameOf(depth.state)},
                            static_cast<double>(depth.count));
            }
        });
    Add({"ksana_queue_oldest_age_seconds",
         "How long the queued run has been ready that waits longest, by type.",
         {"kind", "type"},
         TypeLabels::kMostSets},
        [this](Samples& samples) {
            if (const auto depths = depths_.Get()) CollectAges(*depths, samples);
        });
}

// Several types may share the label "other": the oldest of their runs counts.
void NodeGauges::CollectAges(const Depths& depths, Samples& samples) const {
    std::map<std::pair<model::ActionKind, std::string>, TimePoint> oldest;
    for (const store::QueueDepth& depth : depths) {
        if (depth.state != model::RunState::kQueued) continue;
        const std::pair key(depth.kind, labels_.Of(depth.kind, depth.type));
        TimePoint& since = oldest.try_emplace(key, depth.oldest_ready_at).first->second;
        since = std::min(since, depth.oldest_ready_at);
    }
    const TimePoint now = node_.workers().StoreNow();
    for (const auto& [key, since] : oldest) {
        const auto age = std::max(now - since, Duration::zero());
        samples.Add({model::NameOf(key.first), key.second},
                    std::chrono::duration<double>(age).count());
    }
}

// Says that nobody plans, whichever server should.
void NodeGauges::AddFires() {
    Add({"ksana_fire_overdue_seconds",
         "How long ago the next fire of all jobs was due, if no server has planned it yet."},
        [this](Samples& samples) {
            const auto times = wakes_.Get();
            if (!times) return;
            const TimePoint due = times->plan.value_or(times->now);
            const auto overdue = std::max(times->now - due, Duration::zero());
            samples.Add({}, std::chrono::duration<double>(overdue).count());
        });
}

void NodeGauges::AddNodes() {
    Add({"ksana_nodes", "Servers that share the store.", {"state"}}, [this](Samples& samples) {
        const auto nodes = node_.Nodes();
        if (!nodes) return;
        std::array<double, model::kEnumCount<model::NodeState>> counts{};
        for (const engine::NodeStatus& one : *nodes) {
            ++counts.at(static_cast<std::size_t>(one.state));
        }
        AddStates<model::NodeState>(samples, counts);
    });
}

// Read from the directory, which WorkerWatch keeps up to date.
void NodeGauges::AddWorkers() {
    const auto add = [this](const char* name, const char* help, auto amount) {
        Add({name, help, {"state"}}, [this, amount](Samples& samples) {
            std::array<double, model::kEnumCount<model::WorkerState>> sums{};
            for (const model::Worker& worker : node_.workers().All()) {
                const auto state = static_cast<std::size_t>(node_.workers().StateOf(worker));
                sums.at(state) += amount(worker);
            }
            AddStates<model::WorkerState>(samples, sums);
        });
    };
    add("ksana_workers", "Workers and agents that the store knows, by health.",
        [](const model::Worker&) { return 1; });
    add("ksana_workers_slots", "Attempts that the workers may run at once, by their health.",
        [](const model::Worker& worker) { return worker.slots; });
    add("ksana_workers_busy",
        "Attempts that the workers ran at their last heartbeat, by their health.",
        [](const model::Worker& worker) { return worker.busy; });
}

void NodeGauges::AddLimit(const std::string& name, const std::string& help,
                          std::function<std::optional<double>(const engine::LimitUse&)> count) {
    Add({name, help, {"kind", "name"}}, [this, count = std::move(count)](Samples& samples) {
        for (const engine::LimitUse& use : node_.LimitUses()) {
            if (!use.limit.max_concurrency && !use.limit.rate) continue;
            if (const auto value = count(use)) {
                samples.Add({model::NameOf(use.kind), use.name}, *value);
            }
        }
    });
}

void NodeGauges::AddLimits() {
    using engine::LimitUse;
    using Value = std::optional<double>;
    AddLimit("ksana_limit_in_use", "Attempts under way that count for a limit.",
             [](const LimitUse& use) { return Value(use.in_use); });
    AddLimit("ksana_limit_waiting", "Runs that wait in memory for a limit.",
             [](const LimitUse& use) { return Value(use.waiting); });
    AddLimit("ksana_limit_max_concurrency",
             "Attempts at once that a limit allows to all servers together.",
             [](const LimitUse& use) { return Value(use.limit.max_concurrency); });
    AddLimit("ksana_limit_share_places",
             "Attempts at once that this node may run under a limit that servers share.",
             [](const LimitUse& use) -> Value {
                 if (!use.share || !use.limit.max_concurrency) return std::nullopt;
                 return static_cast<double>(use.share->places);
             });
    AddLimit("ksana_limit_share_starts",
             "Starts of its rate that this node may use of a limit that servers share.",
             [](const LimitUse& use) -> Value {
                 if (!use.share || !use.limit.rate) return std::nullopt;
                 return static_cast<double>(use.share->starts);
             });
}

void NodeGauges::AddBreakers() {
    Add({"ksana_breakers", "Destinations whose breaker is not closed.", {"state"}},
        [this](Samples& samples) {
            std::array<double, model::kEnumCount<engine::BreakerState>> counts{};
            for (const engine::LimitUse& use : node_.LimitUses()) {
                if (use.breaker) ++counts.at(static_cast<std::size_t>(use.breaker->state));
            }
            for (const auto state :
                 {engine::BreakerState::kOpen, engine::BreakerState::kHalfOpen}) {
                samples.Add({model::NameOf(state)}, counts.at(static_cast<std::size_t>(state)));
            }
        });
}

void NodeGauges::AddAlerts() {
    Add({"ksana_alerts_open", "Incidents that alert rules have found and that are not over."},
        [this](Samples& samples) {
            const auto incidents = incidents_.Get();
            if (!incidents) return;
            samples.Add({}, static_cast<double>(std::ranges::count_if(
                                *incidents, [](const engine::StoredIncident& one) {
                                    return one.incident.state == model::IncidentState::kOpen;
                                })));
        });
}

}  // namespace ksana::server
