#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/process/loop_thread.hpp"
#include "ksana/engine/agents/agent_service.hpp"
#include "ksana/engine/broker/broker_link.hpp"
#include "ksana/engine/broker/broker_queues.hpp"

namespace ksana::engine {

// Applies what consumers of the message broker say about their attempts. Each batch is one
// transaction; its messages are acknowledged when it is stored, so none is lost, and what is
// delivered again is recognised. A message that cannot be read goes to the dead letters.
//
// While the store fails, the batch waits and is tried again; the broker keeps what comes after it.
// Every node listens: the broker gives each message to one of them. RunOnce is for the thread that
// Start begins, or for a test in its place; the rest is thread-safe.
class StatusListener final : public Service {
  public:
    // Tells the owner of an attempt to stop it.
    using Tell = std::function<void(const std::string& owner, const Uuid& run_id,
                                    const std::string& exec_id, std::string_view directive)>;
    // All must outlive the object.
    struct Parts {
        broker::Broker& broker;
        const BrokerQueues& queues;
        AgentService& agents;
        Clock& clock;
        Random& random;
        Tell tell;
    };
    struct Counts {
        std::uint64_t applied = 0;
        std::uint64_t stale = 0;     // of attempts that are over, or another consumer's
        std::uint64_t conflict = 0;  // they contradict what was reported before
        std::uint64_t dead = 0;      // unreadable
    };

    explicit StatusListener(const Parts& parts);
    ~StatusListener() override;

    std::string_view name() const override { return "listener"; }
    Result<void> Start() override;
    void Stop() override;

    std::optional<Error> fault() const { return link_.fault(); }
    Counts counts() const;

    // Takes and applies what has come, without waiting for more. Returns when to call it again, if
    // nothing comes in before.
    SteadyPoint RunOnce();

  private:
    // A message that could be read.
    struct Reports {
        std::uint64_t tag = 0;
        std::vector<model::RunEvent> events;
    };

    void Run(const std::stop_token& stop);
    Result<void> Prepare(broker::Link& link);
    bool Receive(broker::Link& link);
    Result<void> ApplyWaiting(broker::Link& link);
    Result<void> ApplyFirst(broker::Link& link, std::size_t count);
    Result<void> ApplyEach(broker::Link& link);
    void Note(const model::RunEvent& report, const store::Applied& applied);

    const Parts parts_;
    BrokerLink link_;
    std::deque<Reports> waiting_;  // received from the present link, not applied; RunOnce only
    SteadyPoint again_at_{};       // not before: the store has failed; RunOnce only
    Duration pause_{};             // RunOnce only
    std::array<std::atomic<std::uint64_t>, 4> counts_{};
    Mutex service_mutex_;  // one Start or Stop at a time
    LoopThread thread_;
};

}  // namespace ksana::engine
