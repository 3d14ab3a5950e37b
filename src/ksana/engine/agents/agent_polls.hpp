#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ksana/base/error/error.hpp"
#include "ksana/base/process/loop_thread.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/process/service.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/agents/agent_service.hpp"
#include "ksana/engine/workers/worker_directory.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// The agent behind a poll: the request that waits for an answer. The API implements it over HTTP.
// AgentPolls owns it and calls exactly one of Send and Fail, once, on any thread; neither may
// block.
class PollClient {
  public:
    PollClient() = default;
    PollClient(const PollClient&) = delete;
    PollClient& operator=(const PollClient&) = delete;
    virtual ~PollClient() = default;

    // Answers with runs that are started and leased to the agent; without runs if there are none.
    virtual void Send(std::vector<model::Run> runs) = 0;
    // The same, with the jobs of the runs that no agent gets (ActionKind other than kQueue).
    virtual void SendWith(std::vector<model::Run> runs, std::vector<model::Job> /*jobs*/) {
        Send(std::move(runs));
    }
    // Answers that the claim failed.
    virtual void Fail(const Error& error) = 0;
    // Answers without runs: the worker is to drain.
    virtual void SendDrain() { Send({}); }

    // Returns whether the agent has closed its connection.
    virtual bool gone() const = 0;
    // Calls `callback` once when the agent closes its connection, at once if it has. The callback
    // does not block.
    virtual void OnGone(std::function<void()> callback) = 0;
};

// Whether a registered worker claims, not an agent.
inline bool IsWorker(const model::AgentClaim& claim) { return !claim.incarnation.IsNil(); }

// A claim of an agent, and where its answer goes.
struct AgentPoll {
    model::AgentClaim claim;
    std::unique_ptr<PollClient> client;
};

// The long polls of agents: claims that wait for runs. A waiting poll costs no thread: one thread
// serves all: agents in the order in which they came, registered workers with the most free slots
// first. It wakes when a commit makes a run ready, or when a
// run comes due. It claims for no more than the first few polls of each filter, and goes on while
// they are filled, so that a single run does not wake every poll. Claims of several polls share a
// transaction.
//
// A task that is submitted while a poll waits for it and nothing else is ready is stored as started
// by the agent of that poll (Reserve): one commit from its submission to its start.
//
// Polls of registered workers claim together what any of them may get; then those are looked after
// that a waiting run names (a label of its selector or preference), and a few others in turn. A
// worker that is to drain, or that was replaced, has its poll answered at once.
//
// Runs that were claimed for an agent which has closed its connection are given back at once. A
// store that fails is asked again after a second; the polls wait on. Thread-safe; RunOnce is for
// the thread that Start begins, or for a test in its place.
class AgentPolls final : public Service {
  public:
    class Reservation;

    struct Options {
        std::size_t max_polls = 2'000;
        // Bounds the delay of runs that other programs write into the tables, which wakes no
        // thread.
        Duration longest_sleep = std::chrono::seconds(1);
        WorkerDirectory* workers = nullptr;  // may be null: no worker is registered
    };

    // `agents`, `store` and `clock` must outlive it.
    AgentPolls(AgentService& agents, store::Store& store, Clock& clock, const Options& options);
    ~AgentPolls() override;

    std::string_view name() const override { return "agents"; }
    Result<void> Start() override;
    void Stop() override;

    // Claims runs that are ready, unless earlier polls wait for the same runs. Without a run the
    // poll waits for up to its claim's `wait`.
    void Claim(AgentPoll poll);
    // For a poll whose first claim was part of another transaction: answers with these runs, or
    // lets the poll wait where there are none. `seen` is commits() before that transaction; none:
    // the transaction claimed nothing.
    void Settle(AgentPoll poll, std::vector<model::Run> runs, std::optional<std::uint64_t> seen);
    std::uint64_t commits() const { return commits_; }
    // Returns whether earlier polls wait for the same runs.
    bool OthersWait(const model::AgentClaim& claim) const;
    // Wakes the thread: runs that a limit held back may have room now.
    void Notify();
    // Takes the first poll that waits for such a run out of its line. Null where none of the first
    // filters matches, and while an older run may be ready.
    std::unique_ptr<Reservation> Reserve(const model::Run& run);
    // Answers all waiting polls without runs, as the server is about to stop. From now on no poll
    // waits, and agents are told to look for another server.
    void Drain();
    bool draining() const { return draining_; }
    std::size_t waiting() const { return parked_; }

    // Serves the polls that it can. Returns when to call again at the latest.
    SteadyPoint RunOnce();

  private:
    struct Waiting {
        AgentPoll poll;
        SteadyPoint deadline;
    };
    // Polls with the same filter: those with the most free slots first, then in the order in which
    // they came. The polls of agents all count the same.
    using Group = std::deque<Waiting>;
    using Key = std::string;
    // What the threads of connections may touch after this object is destroyed.
    struct Signal {
        Wakeup wakeup;
        std::atomic<bool> gone{false};  // the agent of a waiting poll has closed its connection
    };
    // A poll that was taken out of its group while runs are claimed for it.
    struct Taken {
        Key key;
        Waiting waiting;
    };

    void Run(const std::stop_token& stop);
    void Park(AgentPoll poll, std::optional<std::uint64_t> seen);
    void Refuse(AgentPoll& poll) const;
    void Answer(AgentPoll& poll, std::vector<model::Run> runs);
    Result<std::vector<model::Job>> JobsOf(const std::vector<model::Run>& runs);
    static void SendEmpty(std::vector<Waiting> polls);

    SteadyPoint ServeOnce();
    void Sweep(SteadyPoint now);
    bool WantsLook(SteadyPoint now);
    Result<bool> Look();
    Result<bool> LookForNamed();
    Result<std::set<std::string, std::less<>>> NamedWorkers();
    void Recheck();
    void AnswerBad(const std::map<std::pair<std::string, Uuid>, Standing>& bad);
    void Hear(store::Topics topics);
    void Insert(Waiting waiting, const Key& key, bool first) KSANA_REQUIRES(mutex_);
    std::vector<Taken> TakeFirst();
    std::vector<Taken> TakeNamed(const std::set<std::string, std::less<>>& names);
    Result<bool> ClaimFor(std::vector<Taken> taken, AgentService::Aim aim);
    bool Serve(std::vector<Taken> taken, std::vector<store::Claimed> claimed);
    void PutBack(std::vector<Taken> taken);
    void Give(Taken& taken, model::Run run);
    void PutBackReserved(Taken taken);
    Result<bool> ReadNextDue(SteadyPoint now);

    AgentService& agents_;
    store::Store& store_;
    Clock& clock_;
    const Options options_;
    const std::shared_ptr<Signal> signal_ = std::make_shared<Signal>();
    std::atomic<std::uint64_t> commits_{0};  // that may have made a run ready
    std::atomic<bool> draining_{false};
    // Polls that wait, with those that were taken out of their groups. Changed under mutex_.
    std::atomic<std::size_t> parked_{0};
    // Set while there may be polls of registered workers, and such that wait for other runs than
    // tasks; reset when no poll waits.
    std::atomic<bool> workers_wait_{false};
    std::atomic<bool> other_kinds_wait_{false};

    mutable Mutex mutex_;
    std::map<Key, Group> groups_ KSANA_GUARDED_BY(mutex_);   // empty: all are taken
    SteadyPoint first_deadline_ KSANA_GUARDED_BY(mutex_){};  // of all polls, or before it
    bool look_ KSANA_GUARDED_BY(mutex_) = false;             // a run may be ready
    std::size_t offer_turn_ KSANA_GUARDED_BY(mutex_) = 0;  // the group that is offered a run first
    bool read_due_ KSANA_GUARDED_BY(mutex_) = false;       // due_at_ is not known
    std::atomic<std::uint64_t> seen_{0};  // commits before the last look; set by RunOnce
    // These: only RunOnce.
    SteadyPoint looked_at_{};            // the last time
    std::size_t empty_looks_ = 0;        // consecutive looks that found no run
    Duration empty_look_pause_{};        // between such looks
    std::size_t turn_ = 0;               // the group that is looked for first
    std::optional<SteadyPoint> due_at_;  // the next run comes due by itself
    bool failing_ = false;
    std::uint64_t checked_ = 0;   // version of the workers when the polls were checked
    std::size_t named_turn_ = 0;  // the worker that is looked after next though no run names it

    Mutex service_mutex_;  // one Start or Stop at a time
    LoopThread thread_;
    const store::ChangeFeed::Subscription subscription_;
};

// A poll that was taken out of its line for a run that is about to be stored. The store starts the
// run under the agent of the poll, and Give answers it; without Give the destructor puts the poll
// back in its place. Belongs to one thread. The AgentPolls must outlive it.
class AgentPolls::Reservation {
  public:
    Reservation(AgentPolls& polls, Taken taken) : polls_(polls), taken_(std::move(taken)) {}
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;
    ~Reservation();

    store::StartAs start() const;
    // `run` as it was stored, started by the agent. Once.
    void Give(model::Run run);

  private:
    AgentPolls& polls_;
    Taken taken_;
    bool given_ = false;
};

}  // namespace ksana::engine
