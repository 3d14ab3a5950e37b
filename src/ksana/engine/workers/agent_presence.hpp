#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/model/run/agent.hpp"
#include "ksana/model/worker.hpp"

namespace ksana::engine {

// Which agents have claimed on this node, so that the list of workers shows them. A claim costs a
// look into a map; WorkerWatch writes what has changed, all agents in one transaction, each at most
// once in kAgentNotice. Bounded: beyond kMaxAgents, agents that were silent for longest are
// dropped. Owned by Node. Thread-safe.
class AgentPresence {
  public:
    static constexpr Duration kAgentNotice = std::chrono::seconds(10);
    static constexpr std::size_t kMaxAgents = 10'000;

    // `clock` must outlive it.
    explicit AgentPresence(const Clock& clock) : clock_(clock) {}

    // Returns whether the agent is to be written, and none was before.
    bool Note(const model::AgentClaim& claim);
    // Returns the agents to write, and forgets that they are to be written.
    std::vector<model::Worker> Take();
    // Writes them again: the store did not take them.
    void PutBack(const std::vector<model::Worker>& agents);

  private:
    struct Seen {
        model::Worker agent;
        SteadyPoint seen{};
        SteadyPoint written{};
        bool due = false;  // to be written
    };

    void MakeRoom() KSANA_REQUIRES(mutex_);

    const Clock& clock_;
    Mutex mutex_;
    std::unordered_map<std::string, Seen> agents_ KSANA_GUARDED_BY(mutex_);
    bool any_due_ KSANA_GUARDED_BY(mutex_) = false;
};

}  // namespace ksana::engine
