#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ksana/broker/broker.hpp"
#include "ksana/engine/broker/broker_queues.hpp"
#include "sim/broker/watched_broker.hpp"
#include "sim/sim_target.hpp"
#include "sim/sim_task_checks.hpp"
#include "sim/sim_world.hpp"

namespace ksana::sim {

struct ConsumerSettings {
    std::string category;      // whose queue it takes from
    std::size_t prefetch = 1;  // messages that it takes at once
    Duration lease = std::chrono::seconds(30);
    Duration poll = std::chrono::seconds(5);  // how often it looks although nothing seems to come
};

// A stranger's program that takes tasks from the message broker: it knows the queues and the
// messages, and nothing of the engine. It reports late, twice, in the wrong order or never, forgets
// what it has taken, dies, and is away. What it says at the end of an attempt names itself and the
// attempt. Runs as events of the world, on one thread.
class Consumer {
  public:
    struct Parts {
        broker::Broker& broker;
        BrokerNews& news;
        const engine::BrokerQueues& queues;
        Targets& targets;
        const RunChecks& runs;
        TaskChecks& tasks;
    };
    // What `parts` names must outlive the consumer.
    Consumer(World& world, const Parts& parts, int number, const ConsumerSettings& settings);

    // The process ends, with everything that it has not said; another one takes its place later.
    void DieFor(Duration how_long);
    // It takes nothing for a while, and goes on with what it has.
    void LeaveFor(Duration how_long) {
        link_.reset();
        gone_until_ = world_.now() + how_long;
    }
    // It is stopped by a signal: its link stays.
    void PauseFor(Duration how_long) { away_until_ = world_.now() + how_long; }
    // A message may have come.
    void Ring();
    // From now on it works fast and well.
    void Heal();

    // Returns whether an owner of leases is a consumer.
    static bool IsConsumer(std::string_view owner) { return owner.starts_with("consumer"); }

  private:
    struct Task {
        Uuid run_id;
        std::string exec_id;
        Duration timeout{};
    };
    struct Work {
        Task task;
        TimePoint done_at{};
        TimePoint beat_at{};
        bool silent = false;
    };

    bool away() const { return world_.now() < away_until_; }
    void TurnAt(TimePoint when);
    void Turn();
    bool Connect();
    void TalkAndWork();
    bool SendAll();
    void Receive();
    void Begin(const Task& task);
    void End(const Work& work);
    std::string DrawEnd(const Task& task);
    void Say(const Task& task, std::string_view status, std::string_view more);
    void Note(const Task& task, std::string_view what);

    World& world_;
    const Parts parts_;
    const int number_;
    const ConsumerSettings settings_;
    std::string name_;
    int life_ = 0;
    WatchedBroker broker_;
    std::unique_ptr<broker::Link> link_;
    std::map<std::string, Work> works_;         // by exec_id
    std::map<std::string, std::string> ended_;  // the report at the end, by exec_id
    std::deque<std::string> outbox_;            // what the broker has not taken yet
    std::optional<TimePoint> turn_at_;
    std::uint64_t turn_ = 0;  // only the turn scheduled last counts
    TimePoint away_until_{};
    TimePoint gone_until_{};
    bool healed_ = false;
};

}  // namespace ksana::sim
