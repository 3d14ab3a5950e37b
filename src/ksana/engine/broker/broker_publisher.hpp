#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ksana/base/process/loop_thread.hpp"
#include "ksana/engine/agents/agent_polls.hpp"
#include "ksana/engine/broker/broker_link.hpp"
#include "ksana/engine/broker/broker_queues.hpp"
#include "ksana/model/run/trace_context.hpp"

namespace ksana::engine {

// Publishes tasks to the message broker. To the rest of the engine it is one agent that claims all
// tasks which require no labels, and never reports their ends: its runs are `running` with the
// owner model::kBrokerOwner until a consumer takes them (StatusListener).
//
// The store is the truth. A run is claimed first, published with its exec_id, and noted as handed
// out when the broker has confirmed it. What the broker does not take goes back at once, without a
// retry used up. What it has lost is published again as another attempt, which uses up no retry
// either: when its queue is gone, or was empty and without a consumer for ten seconds, and in any
// case when `Options::wait` is over. So nothing depends on the memory of this object, and every
// node may look for what another one has published.
//
// A queue that is full stops the claims for the types that were refused, so what waits, waits in
// the store. RunOnce is for the thread that Start begins, or for a test in its place; the rest is
// thread-safe.
class BrokerPublisher final : public Service {
  public:
    struct Options {
        std::vector<std::string> categories;  // publishes only tasks of these; empty: all
        // A message that no consumer has begun in that time is published again.
        Duration wait = std::chrono::minutes(10);
        std::int32_t batch = model::kMaxClaim;
        model::TraceSampler sampler = {};
    };
    // All must outlive the object.
    struct Parts {
        broker::Broker& broker;
        const BrokerQueues& queues;
        AgentService& agents;
        AgentPolls& polls;
        store::Store& store;
        Clock& clock;
        Random& random;
    };
    struct Counts {
        std::uint64_t published = 0;
        std::uint64_t refused = 0;      // by a full queue, or one that was gone
        std::uint64_t unconfirmed = 0;  // no answer in time, or the link broke
        std::uint64_t lost = 0;         // published again, as their messages were lost
    };

    BrokerPublisher(Options options, const Parts& parts);
    ~BrokerPublisher() override;

    std::string_view name() const override { return "publisher"; }
    Result<void> Start() override;
    void Stop() override;

    // Sends a directive to the consumer that has the attempt, if it listens. Dropped if very many
    // wait, or if there is no connection.
    void Tell(const std::string& owner, const Uuid& run_id, const std::string& exec_id,
              std::string_view directive);

    // Whether such a run is published. Any thread.
    bool Publishes(const model::Run& run) const;
    // Why nothing is published; none: all is well.
    std::optional<Error> fault() const { return link_.fault(); }
    Counts counts() const;

    // Does what is due. Returns when to call it again, if nothing nudges it before.
    SteadyPoint RunOnce();

  private:
    class Client;
    struct Inbox;
    struct Notice {
        std::string queue;
        std::string text;
    };
    // What a look at a queue says about messages that nobody has begun. Abandoned: it is empty and
    // without a consumer. Gone: it was not there.
    enum class Fate : std::uint8_t { kInUse, kAbandoned, kGone };

    enum Count : std::size_t { kPublished, kRefused, kUnconfirmed, kLost };

    // Gives an attempt back that no consumer can have begun.
    static model::RunEvent NotBegun(const model::Run& run, Duration after, std::string why);
    // Gives an attempt back that a consumer may have begun after all, so it is kept in the history.
    static model::RunEvent TakenBack(const model::Run& run, std::string why);

    void Run(const std::stop_token& stop);
    Result<void> Prepare(broker::Link& link);
    void Poll(std::vector<model::RunEvent> reports);
    void Publish(std::vector<model::Run> runs);
    std::vector<broker::PublishVerdict> Send(const std::vector<model::Run>& runs, bool& answered);
    void SendNotices();
    void Sweep();
    Result<std::vector<model::RunEvent>> FindLost(broker::Link& link);
    Result<Fate> FateOf(broker::Link& link, const std::string& category);
    Result<void> DeclareFor(broker::Link& link, const std::string& category);
    void NoteGone(const std::string& category);
    model::AgentClaim ClaimNow();
    void Report(std::vector<model::RunEvent> reports);
    void Owe(std::vector<model::RunEvent> reports, const Error& error);
    bool PayOwed();
    void PauseTypes(const std::set<std::string>& types);

    const Options options_;
    const Parts parts_;
    BrokerLink link_;
    const std::shared_ptr<Inbox> inbox_;
    // Used by RunOnce only:
    std::set<std::string> declared_;             // categories whose queue this link has declared
    std::map<std::string, SteadyPoint> paused_;  // types whose queue is full, until then
    // Categories whose queue was not there when this node looked or published, and when that was,
    // by the store's clock; none: unknown. What was in it is lost, also if somebody has made the
    // queue again before the sweep. Until the sweep has found it all.
    std::map<std::string, std::optional<TimePoint>> gone_;
    std::string gone_cursor_;  // where the sweep goes on to look; empty: from the beginning
    // The looks that found the queue of a category abandoned without a break, by the store's clock;
    // of the old ones only the last.
    std::map<std::string, std::deque<TimePoint>> abandoned_;
    SteadyPoint sweep_at_{};
    SteadyPoint poll_at_{};              // not before: the store has failed
    std::vector<model::RunEvent> owed_;  // what the store has not taken; nothing is claimed before
    std::array<std::atomic<std::uint64_t>, 4> counts_{};

    Mutex notices_mutex_;
    std::deque<Notice> notices_ KSANA_GUARDED_BY(notices_mutex_);
    Mutex service_mutex_;  // one Start or Stop at a time
    LoopThread thread_;
};

}  // namespace ksana::engine
