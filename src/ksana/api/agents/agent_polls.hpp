#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/process/loop_thread.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/process/service.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/agents/agent_service.hpp"
#include "ksana/engine/agents/waiting_consumer.hpp"
#include "ksana/http_server/routing/reply.hpp"
#include "ksana/store/store.hpp"

namespace ksana::api {

// A claim of an agent that waits for runs, and the reply that answers it.
struct AgentPoll {
    model::AgentClaim claim;
    http_server::Reply reply;
    // Outcomes of the reports of an exchange, as JSON. The reports are stored already, so the
    // answer is always a 200. None: a plain claim.
    std::optional<std::string> reports = {};
};

// Long polls of agents that wait for runs. Waiting polls block no thread: one thread serves all,
// first come, first served. A commit that makes a run ready wakes the thread, as does the time at
// which a run becomes due. The thread claims for the first few polls of each filter only, and goes
// on while these are filled, so that a single run does not wake every poll. Claims of several polls
// share a transaction.
//
// A task that is submitted while a poll waits for it, and nothing else is ready, is stored as
// started by the agent of that poll (TakerFor): one commit from submission to start.
//
// Runs that were claimed for a client that has disconnected are given back at once. If the store
// fails, polls keep waiting and the claim is repeated. Owned by the application. Thread-safe,
// except RunOnce: only the thread of the object calls it, or a test instead of that thread.
class AgentPolls final : public Service {
  public:
    struct Options {
        std::size_t max_polls = 2'000;
        // Longest time between two looks: finds runs whose wake-up was missed, such as rows that
        // other processes write.
        Duration longest_sleep = std::chrono::seconds(1);
    };

    // `context`, `store` and `clock` must outlive the object.
    AgentPolls(engine::AgentService& context, store::Store& store, Clock& clock,
               const Options& options);
    ~AgentPolls() override;

    std::string_view name() const override { return "agents"; }
    Result<void> Start() override;
    void Stop() override;

    // Claims ready runs at once, unless other polls with the same filter wait already. A poll that
    // gets no run waits for up to `claim.wait`. May block in the store.
    void Claim(AgentPoll poll);
    // Continues a poll whose first claim was part of another transaction: answers it with `runs`,
    // or lets it wait if there are none. `seen` is the value of commits() before that transaction;
    // none: that transaction claimed nothing.
    void Settle(AgentPoll poll, std::vector<model::Run> runs, std::optional<std::uint64_t> seen);
    std::uint64_t commits() const { return commits_; }
    // Returns whether polls with the same filter wait already. A new poll queues up behind them.
    bool OthersWait(const model::AgentClaim& claim) const;
    // Wakes the thread: a commit made runs ready, or a limit has room again.
    void Ring();
    // Takes the first poll that waits for such a run. Returns null if there is none among the first
    // filters, and while a run that was ready before may still be unclaimed.
    std::unique_ptr<engine::WaitingConsumer> TakerFor(const model::Run& run);
    // Answers all waiting polls without runs: the server is about to stop. Until the next Start no
    // poll waits, and answers to heartbeats and reports carry the directive "drain".
    void Drain();
    bool draining() const { return draining_; }
    std::size_t waiting() const { return parked_; }

    // Serves the polls that can be served. Returns when to call it again at the latest.
    SteadyPoint RunOnce();

  private:
    struct Waiting {
        AgentPoll poll;
        SteadyPoint deadline;
    };
    // Polls with the same filter, oldest first.
    using Group = std::deque<Waiting>;
    using Key = std::string;
    // What I/O threads may touch after the object is destroyed.
    struct Bell {
        Wakeup wakeup;
        std::atomic<bool> gone{false};  // a waiting client has disconnected
    };
    struct Asked {
        Key key;
        Waiting waiting;
    };
    class FirstInLine;

    void Run(const std::stop_token& stop);
    void Park(AgentPoll poll, std::optional<std::uint64_t> seen);
    void Refuse(AgentPoll& poll) const;
    void Answer(AgentPoll& poll, std::vector<model::Run> runs);
    void SendEmpty(std::vector<Waiting> polls);

    void Sweep(SteadyPoint now);
    bool WantsLook(SteadyPoint now);
    Result<bool> Look();
    std::vector<Asked> TakeFirst();
    bool Serve(std::vector<Asked> asked, std::vector<store::Claimed> claimed);
    void PutBack(std::vector<Asked> asked);
    void Give(Asked& asked, model::Run run);
    void WaitOn(Asked asked);
    Result<void> AskForTime(SteadyPoint now);

    engine::AgentService& desk_;
    store::Store& store_;
    Clock& clock_;
    const Options options_;
    const std::shared_ptr<Bell> bell_ = std::make_shared<Bell>();
    std::atomic<std::uint64_t> commits_{0};  // that made runs ready
    std::atomic<bool> draining_{false};
    // Waiting polls, including those that are taken out of groups_ for a claim. Changed under
    // mutex_.
    std::atomic<std::size_t> parked_{0};

    mutable Mutex mutex_;
    std::map<Key, Group> groups_ KSANA_GUARDED_BY(mutex_);   // empty group: its polls are taken out
    SteadyPoint first_deadline_ KSANA_GUARDED_BY(mutex_){};  // of all polls, or earlier
    bool look_ KSANA_GUARDED_BY(mutex_) = false;             // a run may be ready
    std::size_t offer_turn_ KSANA_GUARDED_BY(mutex_) = 0;    // group to offer a run to first
    bool ask_time_ KSANA_GUARDED_BY(mutex_) = false;         // due_at_ must be read
    std::atomic<std::uint64_t> seen_{0};  // commits_ before the last look; set by RunOnce
    // Used by RunOnce only.
    SteadyPoint looked_at_{};            // time of the last look
    std::size_t in_vain_ = 0;            // consecutive looks that found no run
    Duration vain_pause_{};              // pause between such looks
    std::size_t turn_ = 0;               // group that is claimed for first
    std::optional<SteadyPoint> due_at_;  // when the next scheduled run becomes due
    bool failing_ = false;

    Mutex service_mutex_;  // one Start or Stop at a time
    LoopThread thread_;
    const store::ChangeFeed::Subscription subscription_;
};

}  // namespace ksana::api
