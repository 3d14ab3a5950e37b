#include "sim/broker/broker_side.hpp"

#include <algorithm>

#include "ksana/base/error/check.hpp"
#include "ksana/codec/v1/limit_codec.hpp"
#include "ksana/engine/limits/limit_source.hpp"

namespace ksana::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

// Short, so that it is full now and then.
constexpr std::size_t kQueueLength = 8;
// A call of the store that was under way when the faults ended is over after that time.
constexpr Duration kLastCalls = seconds(65);

}  // namespace

BrokerSide::BrokerSide(World& world, const Parts& parts, const BrokerSettings& settings)
    : world_(world),
      parts_(parts),
      settings_(settings),
      broker_(world.store_clock(), world.random()),
      queues_("sim", kQueueLength),
      checks_(world, news_,
              [this](int node) { return nodes_.at(static_cast<std::size_t>(node))->owner(); }) {
    news_.on_message = [this] {
        for (const auto& node : nodes_) node->Ring();
        for (const auto& consumer : consumers_) consumer->Ring();
    };
    for (int n = 0; n < settings.nodes; ++n) {
        const BrokerNode::Parts to_node{parts.nodes, broker_, news_, queues_};
        nodes_.push_back(std::make_unique<BrokerNode>(world, to_node, n, settings.node));
    }
    std::vector<std::string> categories = settings.node.categories;
    if (categories.empty()) categories = {"", std::string(kCategory)};
    for (int n = 0; n < settings.consumers; ++n) {
        const Consumer::Parts to_consumer{broker_,       news_,      queues_,
                                          parts.targets, parts.runs, parts.tasks};
        const ConsumerSettings consumer{
            .category = categories[static_cast<std::size_t>(n) % categories.size()],
            .prefetch = 1 + world.Below(4),
            .lease = world.Between(seconds(5), seconds(40)),
            .poll = settings.pace};
        consumers_.push_back(std::make_unique<Consumer>(world, to_consumer, n, consumer));
    }
}

void BrokerSide::Begin(const Often& often) {
    broker_.SetFaults(settings_.faults);
    if (settings_.limit) {
        const auto put = parts_.people.settings().Put(
            {.key = engine::LimitSettingOf(model::LimitKind::kType, kType),
             .value = codec::LimitToJson(*settings_.limit),
             .expected = {},
             .expires_at = {}});
        KSANA_CHECK(put.has_value(), "the store itself does not fail");
        checks_.Limit(std::string(kType), *settings_.limit, settings_.node.shared);
    }
    for (const auto& node : nodes_) node->Start();
    often(settings_.length / 30, [this] { Trouble(); });
    often(settings_.length / 12, [this] { TroubleNode(); });
    often(settings_.length / 20, [this] { TroubleConsumer(); });
}

void BrokerSide::Trouble() {
    ++troubles_;
    const std::uint64_t dice = world_.Below(7);
    const Duration how_long = world_.Between(seconds(1), seconds(40));
    if (dice == 0) {
        broker_.SetDown(true);
        world_.After(how_long, [this] { broker_.SetDown(false); });
    } else if (dice == 1) {
        broker_.SetBlocked(true);
        world_.After(how_long, [this] { broker_.SetBlocked(false); });
    } else if (dice == 2) {
        broker_.Restart();
    } else if (dice == 3) {
        DeleteQueues();
    } else if (dice == 4) {
        broker_.Delete(queues_.Status().name);
    } else if (dice == 5) {
        broker_.BreakLinks();
    } else {
        Purge();
    }
}

void BrokerSide::DeleteQueues() {
    broker_.Delete(queues_.Tasks("").name);
    broker_.Delete(queues_.Tasks(std::string(kCategory)).name);
}

void BrokerSide::Purge() {
    const auto link = broker_.Open("a user");
    if (!link) return;
    (void)(*link)->Purge(queues_.Tasks(world_.Chance(500) ? "" : std::string(kCategory)).name);
    if (world_.Chance(300)) (void)(*link)->Purge(queues_.Status().name);
}

void BrokerSide::TroubleNode() {
    ++troubles_;
    BrokerNode& node = *nodes_[world_.Below(nodes_.size())];
    const std::uint64_t dice = world_.Below(4);
    if (dice == 0) return node.Pause(world_.Between(seconds(1), seconds(100)));
    if (dice == 1) return node.Cut(world_.Between(seconds(1), seconds(60)));
    if (dice == 2) node.Crash();
    if (dice == 3) node.Shutdown();
    world_.After(world_.Between(milliseconds(500), seconds(100)), [&node] { node.Start(); });
}

void BrokerSide::TroubleConsumer() {
    ++troubles_;
    Consumer& consumer = *consumers_[world_.Below(consumers_.size())];
    const Duration how_long = world_.Between(milliseconds(500), seconds(100));
    if (world_.Chance(500)) return consumer.PauseFor(how_long);
    consumer.DieFor(how_long);
}

void BrokerSide::Heal() {
    broker_.SetFaults({});
    broker_.SetDown(false);
    broker_.SetBlocked(false);
    for (const auto& node : nodes_) node->Heal();
    for (const auto& consumer : consumers_) consumer->Heal();
    // A consumer that makes the queues again would hide that they were gone.
    world_.After(kLastCalls, [this] {
        for (const auto& consumer : consumers_) consumer->LeaveFor(seconds(20));
        DeleteQueues();
    });
}

void BrokerSide::AddTo(ClusterTotals& totals) const {
    totals.troubles += troubles_;
    for (const auto& node : nodes_) node->AddTo(totals);
}

}  // namespace ksana::sim
