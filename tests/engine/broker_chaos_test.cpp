// Two nodes, a broker with every fault that it knows, a store that fails now and then, and
// consumers that crash, repeat themselves, or say things in the wrong order.

#include <deque>
#include <map>

#include "engine/broker_engine_fixture.hpp"

namespace ksana::engine {
namespace {

using model::RunState;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kStep = milliseconds(500);

struct ChaosNode {
    ChaosNode(store::Store& store, broker::Broker& broker, const BrokerQueues& queues, Clock& clock,
              Random& random, Duration wait)
        : agents(store, {}),
          polls(agents, store, clock, {.max_polls = 10}),
          publisher({.wait = wait}, {.broker = broker,
                                     .queues = queues,
                                     .agents = agents,
                                     .polls = polls,
                                     .store = store,
                                     .clock = clock,
                                     .random = random}),
          listener({.broker = broker,
                    .queues = queues,
                    .agents = agents,
                    .clock = clock,
                    .random = random,
                    .tell = [this](const std::string& owner, const Uuid& run_id,
                                   const std::string& exec_id, std::string_view directive) {
                        publisher.Tell(owner, run_id, exec_id, directive);
                    }}) {}

    void Turn() {
        for (int n = 0; n < 2; ++n) {
            polls.RunOnce();
            publisher.RunOnce();
            listener.RunOnce();
        }
    }

    AgentService agents;
    AgentPolls polls;
    BrokerPublisher publisher;
    StatusListener listener;
};

// Works like a careless program: every report names the consumer and the attempt, so that the end
// of a run shows whose word was taken for it.
class ChaosConsumer {
  public:
    ChaosConsumer(broker::MemoryBroker& broker, const BrokerQueues& queues, std::string name,
                  Clock& clock, Random& random)
        : base_(broker, queues, std::move(name)), clock_(clock), random_(random) {}

    void Step(bool may_err) {
        const SteadyPoint now = clock_.SteadyNow();
        if (now < back_at_) return;
        if (!base_.here() && !base_.Begin("", 3)) return base_.Leave();
        while (!outbox_.empty() && base_.here()) {
            if (!base_.Send(outbox_.front())) return;  // not confirmed: said again
            outbox_.pop_front();
        }
        if (!base_.here()) return;
        for (TestTask& task : base_.Take(3)) Begin(std::move(task), may_err);
        for (const std::string& order : std::exchange(base_.orders, {})) {
            work_.erase(order.substr(order.find(' ') + 1));
        }
        for (auto one = work_.begin(); one != work_.end();) {
            const bool ends = one->second.ends_at <= now;
            if (ends) End(one->second.task, may_err);
            if (!ends && one->second.beats_at <= now) {
                outbox_.push_back(base_.Text(one->second.task, "HEARTBEAT", R"(,"lease":"10s")"));
                one->second.beats_at = now + seconds(3);
            }
            one = ends ? work_.erase(one) : std::next(one);
        }
    }
    void Away(Duration time) {
        base_.Leave();
        back_at_ = clock_.SteadyNow() + time;
    }
    const std::string& name() const { return base_.name(); }

  private:
    struct Work {
        TestTask task;
        SteadyPoint ends_at{};
        SteadyPoint beats_at{};
    };

    bool Happens(std::uint64_t percent) { return random_.Below(100) < percent; }

    void Begin(TestTask task, bool may_err) {
        const SteadyPoint now = clock_.SteadyNow();
        if (may_err && Happens(3)) return;  // forgets it
        if (may_err && Happens(10)) {
            End(task, may_err);
            outbox_.push_back(base_.Text(task, "RUNNING", R"(,"lease":"10s")"));
            return;
        }
        outbox_.push_back(base_.Text(task, "RUNNING", R"(,"lease":"10s")"));
        if (may_err && Happens(20)) outbox_.push_back(outbox_.back());
        if (may_err && Happens(8)) {  // dies with all that it has, after its news were heard
            (void)base_.Send(outbox_.back());
            work_.clear();
            outbox_.clear();
            return Away(seconds(5));
        }
        const Duration takes = milliseconds(random_.Below(8'000));
        const std::string exec_id = task.exec_id;
        work_[exec_id] = {std::move(task), now + takes, now + seconds(3)};
    }

    void End(const TestTask& task, bool may_err) {
        const std::string whose = base_.name() + " " + task.exec_id;
        if (may_err && Happens(15)) {
            outbox_.push_back(base_.Text(task, "FAILED", R"(,"error":")" + whose + "\""));
        } else {
            outbox_.push_back(base_.Text(task, "COMPLETED", R"(,"result":")" + whose + "\""));
        }
        if (may_err && Happens(20)) outbox_.push_back(outbox_.back());
    }

    TestConsumer base_;
    Clock& clock_;
    Random& random_;
    std::map<std::string, Work> work_;  // by exec_id
    std::deque<std::string> outbox_;
    SteadyPoint back_at_{};
};

class BrokerChaosTest : public ServiceFixture, public ::testing::WithParamInterface<int> {
  protected:
    static std::uint64_t Seed() { return static_cast<std::uint64_t>(GetParam()); }
    // Half of the seeds leave it to the sweep to find what is lost, and half to the reaper.
    static bool Sweeps() { return GetParam() % 2 == 0; }

    bool Happens(std::uint64_t per_mille) { return chance_.Below(1000) < per_mille; }

    void Submit() {
        NewTask task;
        task.type = "t" + std::to_string(chance_.Below(3));
        task.priority = static_cast<std::int32_t>(chance_.Below(10));
        task.retry = model::RetryPolicy{.max_retries = 100, .interval = seconds(1)};
        const auto made = tasks_.SubmitOne(task);
        ASSERT_TRUE(made);
        ids_of_runs_.push_back(made->id);
    }

    void Trouble() {
        const SteadyPoint now = clock_.SteadyNow();
        if (Happens(10)) up_at_ = now + seconds(chance_.Below(8));
        broker_.SetDown(now < up_at_);
        if (Happens(10)) free_at_ = now + seconds(chance_.Below(8));
        broker_.SetBlocked(now < free_at_);
        if (Happens(10)) broker_.Restart();
        if (Happens(10)) broker_.Delete(queues_.Tasks("").name);
        if (Happens(5)) broker_.Delete(queues_.Status().name);
        if (Happens(20) && !ids_of_runs_.empty()) {
            (void)runs_.Cancel(ids_of_runs_[chance_.Below(ids_of_runs_.size())], {});
        }
    }

    void Step(bool trouble) {
        for (ChaosNode* node : {&one_, &two_}) node->Turn();
        for (ChaosConsumer& consumer : consumers_) consumer.Step(trouble);
        (void)reaper_.RunOnce();
        clock_.Advance(kStep);
    }

    bool AllOver() {
        return std::ranges::all_of(ids_of_runs_, [this](const Uuid& id) {
            return model::IsFinal(store_->runs().Get(id)->run.status.state);
        });
    }

    // Whose word was taken: that of the consumer that had the attempt, about that attempt.
    void Check(const Uuid& id) {
        const store::RunHistory history = *store_->runs().Get(id);
        const model::RunStatus& status = history.run.status;
        SCOPED_TRACE(id.ToString());
        const std::string whose = status.owner + " " + status.exec_id;
        if (status.state == RunState::kSucceeded) {
            EXPECT_EQ(status.result, "\"" + whose + "\"");
        } else {
            EXPECT_EQ(status.state, RunState::kCancelled) << status.last_error;
        }
        int ends = 0;
        std::set<std::string> attempts;
        for (const model::Attempt& attempt : history.attempts) {
            EXPECT_TRUE(attempts.insert(attempt.exec_id).second) << "one attempt ended twice";
            if (attempt.outcome == model::AttemptOutcome::kSucceeded) ++ends;
            if (attempt.outcome != model::AttemptOutcome::kFailed) continue;
            EXPECT_EQ(attempt.error, attempt.owner + " " + attempt.exec_id);
        }
        EXPECT_EQ(ends, status.state == RunState::kSucceeded ? 1 : 0);
    }

    SeededRandom chance_{Seed()};
    broker::MemoryBroker broker_{clock_, chance_};
    BrokerQueues queues_{"ksana", 8};
    store::FaultPlan faults_{Seed()};
    std::unique_ptr<store::Store> faulty_ = store::MakeFaultyStore(*store_, faults_);
    const Duration wait_ = Sweeps() ? Duration(std::chrono::hours(1)) : Duration(minutes(1));
    ChaosNode one_{*faulty_, broker_, queues_, clock_, chance_, wait_};
    ChaosNode two_{*faulty_, broker_, queues_, clock_, chance_, wait_};
    TaskService tasks_{*store_, {}, {.timeout = minutes(1)}};
    RunService runs_{*store_, ids_};
    Reaper reaper_{*store_, clock_, {}};
    std::deque<ChaosConsumer> consumers_;
    std::vector<Uuid> ids_of_runs_;
    SteadyPoint up_at_{};
    SteadyPoint free_at_{};
};

// D-02, D-03
TEST_P(BrokerChaosTest, EveryTaskEndsOnceByTheWordOfItsOwner) {
    for (const char* name : {"c1", "c2", "c3"}) {
        consumers_.emplace_back(broker_, queues_, name, clock_, chance_);
    }
    broker_.SetFaults(
        {.lose = 30, .refuse = 30, .unknown = 30, .repeat = 150, .reorder = 300, .break_link = 5});
    faults_.Randomly("runs.Exchange", {.error_before = 20'000, .error_after = 20'000});
    for (int step = 0; step < 120; ++step) {
        if (step < 60 && Happens(500)) Submit();
        Trouble();
        Step(true);
    }
    broker_.SetFaults({});
    broker_.SetDown(false);
    broker_.SetBlocked(false);
    faults_.Clear();

    // Whoever is at work ends it; then nobody consumes for a while, and what is lost shows, unless
    // the message of another task hides it until the next round.
    for (int round = 0; round < 5 && !AllOver(); ++round) {
        for (int step = 0; step < 120 && !AllOver(); ++step) Step(false);
        if (!Sweeps()) continue;
        for (ChaosConsumer& consumer : consumers_) consumer.Away(seconds(30));
    }
    for (int step = 0; step < 120 && !AllOver(); ++step) Step(false);
    for (const Uuid& id : ids_of_runs_) {
        const model::RunStatus status = store_->runs().Get(id)->run.status;
        ASSERT_TRUE(model::IsFinal(status.state))
            << "stuck: " << id.ToString() << " " << model::NameOf(status.state) << " "
            << status.owner << " " << status.detail;
    }
    std::map<Uuid, model::RunStatus> ended;
    for (const Uuid& id : ids_of_runs_) ended[id] = store_->runs().Get(id)->run.status;
    for (int step = 0; step < 20; ++step) Step(false);  // late messages change nothing
    for (const Uuid& id : ids_of_runs_) {
        EXPECT_EQ(store_->runs().Get(id)->run.status, ended[id]);
        Check(id);
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, BrokerChaosTest, ::testing::Range(1, 41));

}  // namespace
}  // namespace ksana::engine
