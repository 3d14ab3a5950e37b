#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/loop.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// A node and its state on the store's clock.
struct NodeStatus {
    model::ServerNode node;
    model::NodeState state = model::NodeState::kAlive;
    bool self = false;  // the node that answers
};

// Keeps the row of this node in a shared store, and finds nodes that have died (D-10): a node whose
// process has no session in two looks in a row is dead, and its runs are taken back at once. A node
// that is only silent is left alone: the leases of its runs decide.
//
// Owned by Node. Join comes before the first RunOnce and Leave after the last; these three belong
// to one thread at a time. Hint, SetStopping and All may be called from any thread. After an error
// of the store RunOnce can be called again; nobody is suspected because of an error.
class NodeWatch {
  public:
    // Time between two looks at the sessions of the other nodes.
    static constexpr Duration kLook = std::chrono::seconds(1);

    struct Options {
        model::ServerNode self;                // name, incarnation, version, lease, started_at
        bool shared = false;                   // false: no other process can use the store
        std::function<std::string()> address;  // of the API; may be empty
        // Sets the slots of the row and how many are busy. Any thread.
        std::function<void(model::ServerNode& self)> load;
        // Ends the attempts of these owners; they start elsewhere.
        std::function<Result<void>(const std::vector<std::string>& owners)> take_back;
    };

    // `store` and `clock` must outlive the watch.
    NodeWatch(store::Store& store, const Clock& clock, Options options);

    // Registers the node. Does nothing if the store is not shared.
    Result<void> Join();
    Result<Step> RunOnce();
    // Notes that the node has stopped. A failure is logged: the row is then found silent.
    void Leave();

    // Notes that rows may have changed.
    void Hint() { changed_ = true; }
    // Notes whether the node starts nothing more.
    void SetStopping(bool stopping) { stopping_ = stopping; }

    // Returns every node by name, this one as it is now.
    Result<std::vector<NodeStatus>> All() const;

  private:
    using Nodes = std::vector<model::ServerNode>;

    model::ServerNode Self() const;
    Result<void> Beat(SteadyPoint now);
    Result<Nodes> Read() const;
    Result<void> ReadOthers();
    Result<void> Look(SteadyPoint now);
    Nodes FindDead(const std::vector<std::string>& absent, SteadyPoint now);
    Result<void> Bury(const Nodes& dead);

    store::Store& store_;
    const Clock& clock_;
    const Options options_;
    std::atomic<bool> changed_{true};
    std::atomic<bool> stopping_{false};
    std::atomic<bool> joined_{false};
    bool replaced_ = false;         // another server has taken the name
    bool stopping_stored_ = false;  // as in the row
    SteadyPoint beat_at_{};         // when the next heartbeat is due
    SteadyPoint look_at_{};         // when the next look is due
    TimePoint stored_at_{};         // the store's time of the last heartbeat
    Nodes others_;                  // that may own runs
    // Incarnations without a session, and since when.
    std::map<std::string, SteadyPoint> suspects_;
};

}  // namespace ksana::engine
