#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ksana/broker/broker.hpp"
#include "ksana/engine/broker/broker_queues.hpp"
#include "ksana/engine/callbacks/callback_follow_up.hpp"
#include "ksana/store/faulty_store.hpp"
#include "sim/broker/watched_broker.hpp"
#include "sim/sim_totals.hpp"
#include "sim/sim_world.hpp"

namespace ksana::sim {

struct BrokerNodeSettings {
    Duration wait = std::chrono::minutes(1);  // the setting broker_wait
    std::vector<std::string> categories;      // whose tasks are published; empty: of all
    bool shared = false;                      // several nodes divide the limits
    bool never_stops_in_calls = false;        // Pause does nothing during a call of the store
    std::uint64_t lost_wakeups = 0;           // per thousand
    store::FaultChances faults;
    engine::CallbackOptions callbacks;
    ClusterPlant plant = ClusterPlant::kNone;
};

// What a server does with a message broker: the real publisher, listener, polls and limits of types
// over a faulty store, with events of the world instead of threads. It crashes, also while a call
// of the store is under way; is stopped for longer than its shares last; shuts down; and is cut off
// from the broker. Runs on the world's thread.
class BrokerNode {
  public:
    // What all nodes of a world share; must outlive them.
    struct Parts {
        store::Store& store;
        broker::Broker& broker;
        BrokerNews& news;
        const engine::BrokerQueues& queues;
    };
    BrokerNode(World& world, const Parts& parts, int number, const BrokerNodeSettings& settings);
    ~BrokerNode();

    void Start();
    void Crash();
    void Pause(Duration how_long);
    void Shutdown();
    void Cut(Duration how_long);
    // A message may have come. A broker delivers at once, a network a little later.
    void Ring();
    void Heal();

    bool up() const { return life_ != nullptr; }
    // The name under which it holds shares of limits.
    std::string owner() const;
    void AddTo(ClusterTotals& totals) const;

  private:
    struct Life;

    bool paused() const { return paused_until_ > world_.now(); }
    void Wait(Duration delay);
    void TurnAt(TimePoint when);
    void Turn();
    void SharesAt(TimePoint when);
    void TurnShares();
    TimePoint Work(Life& life);
    void OnCommit(store::Topics topics);

    World& world_;
    const Parts parts_;
    const int number_;
    const BrokerNodeSettings settings_;
    std::shared_ptr<Life> life_;
    int incarnation_ = 0;
    TimePoint paused_until_{};
    std::optional<TimePoint> turn_at_;
    std::uint64_t turn_ = 0;  // only the turn scheduled last counts
    std::optional<TimePoint> shares_at_;
    std::uint64_t shares_turn_ = 0;  // likewise
    bool healed_ = false;
    ClusterTotals past_;  // of its former lives
};

}  // namespace ksana::sim
