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

// A claim that somebody waits for, and what it is answered through.
struct AgentPoll {
    model::AgentClaim claim;
    http_server::Reply reply;
    // Of an exchange: what became of its reports, as JSON. They are stored, so its answer is always
    // a 200.
    std::optional<std::string> reports = {};
};

// Where polls of agents wait for runs. None costs a thread: one thread serves all, in the order in
// which they came. A commit that makes a run ready wakes it, or the time at which one comes due; it
// asks for no more than the first few polls of each filter, and goes on while they are filled, so
// that a single run does not wake everybody. Claims of several polls share a transaction.
//
// A task that comes while somebody waits for it and nothing else is ready is stored as started by
// him (TakerFor): one commit from its submission to its start.
//
// What was claimed for somebody who has gone meanwhile is given back at once. Thread-safe; RunOnce
// is for its thread, or for a test instead of it.
class AgentPolls final : public Service {
  public:
    struct Options {
        std::size_t max_polls = 2'000;
        // The net under wake-ups that never came: of what others write into the tables.
        Duration longest_sleep = std::chrono::seconds(1);
    };

    // What is given must outlive it.
    AgentPolls(engine::AgentService& context, store::Store& store, Clock& clock,
               const Options& options);
    ~AgentPolls() override;

    std::string_view name() const override { return "agents"; }
    Result<void> Start() override;
    void Stop() override;

    // Claims at once what there is, unless others wait for the same already; else the poll waits
    // for as long as it wants to.
    void Claim(AgentPoll poll);
    // For a poll whose first claim was part of another transaction: it goes out with these runs, or
    // waits. `seen` is commits() before that transaction; none: nothing was claimed in it.
    void Settle(AgentPoll poll, std::vector<model::Run> runs, std::optional<std::uint64_t> seen);
    std::uint64_t commits() const { return commits_; }
    // Whether somebody waits for the same runs: whoever comes now stands behind them.
    bool OthersWait(const model::AgentClaim& claim) const;
    // Runs that were held back by a limit may have room now.
    void Ring();
    // The first who waits for such a run. Null where there is none among the first filters, and
    // while something may be ready that was there before this run.
    std::unique_ptr<engine::WaitingConsumer> TakerFor(const model::Run& run);
    // Answers all who wait: the server is about to stop. From now on nobody waits, and agents are
    // told to look for another one.
    void Drain();
    bool draining() const { return draining_; }
    std::size_t waiting() const { return parked_; }

    // Serves whom it can; when to be called again at the latest.
    SteadyPoint RunOnce();

  private:
    struct Waiting {
        AgentPoll poll;
        SteadyPoint deadline;
    };
    // Polls with the same filter, in the order in which they came.
    using Group = std::deque<Waiting>;
    using Key = std::string;
    // What the threads of connections may touch after the hub has gone.
    struct Bell {
        Wakeup wakeup;
        std::atomic<bool> gone{false};  // somebody who waits has gone
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
    std::atomic<std::uint64_t> commits_{0};  // that made something ready
    std::atomic<bool> draining_{false};
    // Those that are being asked for, too. Changed under mutex_.
    std::atomic<std::size_t> parked_{0};

    mutable Mutex mutex_;
    std::map<Key, Group> groups_ KSANA_GUARDED_BY(mutex_);   // an empty one is being asked for
    SteadyPoint first_deadline_ KSANA_GUARDED_BY(mutex_){};  // of all, or before it
    bool look_ KSANA_GUARDED_BY(mutex_) = false;             // something may be ready
    std::size_t offer_turn_ KSANA_GUARDED_BY(mutex_) = 0;  // the group that is offered a run first
    bool ask_time_ KSANA_GUARDED_BY(mutex_) = false;       // due_at_ is not known
    std::atomic<std::uint64_t> seen_{0};  // commits before the last look; set by RunOnce
    // These: only RunOnce.
    SteadyPoint looked_at_{};            // the last time
    std::size_t in_vain_ = 0;            // looks without a run, one after the other
    Duration vain_pause_{};              // between such looks
    std::size_t turn_ = 0;               // the group that is asked for first
    std::optional<SteadyPoint> due_at_;  // a run that waits for its time
    bool failing_ = false;

    Mutex service_mutex_;  // one Start or Stop at a time
    LoopThread thread_;
    const store::ChangeFeed::Subscription subscription_;
};

}  // namespace ksana::api
