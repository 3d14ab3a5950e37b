#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ksana/broker/memory_broker.hpp"
#include "sim/broker/broker_checks.hpp"
#include "sim/broker/broker_node.hpp"
#include "sim/broker/consumer.hpp"

namespace ksana::sim {

struct BrokerSettings {
    int nodes = 1;
    int consumers = 2;
    Duration length{};  // of the world
    Duration pace{};    // of its users
    BrokerNodeSettings node;
    broker::MemoryFaults faults;
    // Of the tasks of kType, which then only consumers get; none: they have no limit.
    std::optional<model::Limit> limit;
};

// The message broker of a world: the broker in memory, the nodes that publish to it and listen,
// the consumers, their faults, and the checks. Runs on the world's thread.
class BrokerSide {
  public:
    using Often = std::function<void(Duration mean, World::Action action)>;
    struct Parts {
        store::Store& people;  // the real store
        store::Store& nodes;   // as servers see it
        Targets& targets;
        const RunChecks& runs;
        TaskChecks& tasks;
    };

    // The type whose tasks have a category of their own, and perhaps a limit.
    static constexpr std::string_view kType = "scan";
    static constexpr std::string_view kCategory = "far";

    // What `parts` names must outlive this object.
    BrokerSide(World& world, const Parts& parts, const BrokerSettings& settings);

    void OnCommit(const Commit& commit) { checks_.OnCommit(commit); }
    void Begin(const Often& often);
    // Ends the faults. The last one is that the broker loses all tasks.
    void Heal();
    void AddTo(ClusterTotals& totals) const;

  private:
    void Trouble();
    void TroubleNode();
    void TroubleConsumer();
    void DeleteQueues();
    void Purge();

    World& world_;
    const Parts parts_;
    const BrokerSettings settings_;
    broker::MemoryBroker broker_;
    const engine::BrokerQueues queues_;
    BrokerNews news_;
    BrokerChecks checks_;
    std::vector<std::unique_ptr<BrokerNode>> nodes_;
    std::vector<std::unique_ptr<Consumer>> consumers_;
    std::int64_t troubles_ = 0;
};

}  // namespace ksana::sim
