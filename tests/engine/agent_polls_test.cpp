#include "ksana/engine/agents/agent_polls.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "engine/service_fixture.hpp"
#include "ksana/engine/services/task_service.hpp"
#include "ksana/store/faulty_store.hpp"

namespace ksana::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// Polls without their thread: the tests call RunOnce instead.
class AgentPollsTest : public ServiceFixture {
  protected:
    // What one poll was answered.
    struct Answer {
        bool sent = false;
        std::vector<Uuid> runs;
        std::optional<Code> failed;
        bool gone = false;
        std::function<void()> on_gone;
    };

    class Client final : public PollClient {
      public:
        explicit Client(std::shared_ptr<Answer> answer) : answer_(std::move(answer)) {}

        void Send(std::vector<model::Run> runs) override {
            Once();
            for (const model::Run& run : runs) answer_->runs.push_back(run.id);
        }
        void Fail(const Error& error) override {
            Once();
            answer_->failed = error.code;
        }
        bool gone() const override { return answer_->gone; }
        void OnGone(std::function<void()> callback) override {
            answer_->on_gone = std::move(callback);
            if (answer_->gone) answer_->on_gone();
        }

      private:
        void Once() const {
            EXPECT_FALSE(answer_->sent) << "answered twice";
            answer_->sent = true;
        }

        const std::shared_ptr<Answer> answer_;
    };

    struct Poll {
        std::shared_ptr<Answer> answer = std::make_shared<Answer>();

        bool waits() const { return !answer->sent; }
        bool served() const { return !answer->runs.empty(); }
        bool empty() const { return answer->sent && !served() && !answer->failed; }
        void Leave() const {
            answer->gone = true;
            if (answer->on_gone) answer->on_gone();
        }
    };

    static model::AgentClaim Wish(std::string worker, std::string type = "t",
                                  Duration wait = seconds(30)) {
        model::AgentClaim claim;
        claim.worker = std::move(worker);
        claim.types = {std::move(type)};
        claim.wait = wait;
        return claim;
    }

    static AgentPoll Made(const Poll& poll, model::AgentClaim claim) {
        return {.claim = std::move(claim), .client = std::make_unique<Client>(poll.answer)};
    }
    Poll Claim(model::AgentClaim claim) {
        Poll poll;
        polls_.Claim(Made(poll, std::move(claim)));
        return poll;
    }

    static NewTask Task(const std::string& type = "t", std::optional<Duration> delay = {}) {
        NewTask task;
        task.type = type;
        task.delay = delay;
        return task;
    }
    Uuid Submit(const std::string& type = "t", std::optional<Duration> delay = {}) {
        return tasks_.SubmitOne(Task(type, delay))->id;
    }
    model::RunStatus StatusOf(const Uuid& id) { return store_->runs().Get(id)->run.status; }

    TaskService tasks_{*store_, {}, {}};
    AgentService agents_{*store_, {}};
    AgentPolls polls_{agents_, *store_, clock_, {.max_polls = 3, .longest_sleep = seconds(1)}};
    // As in the server: a waiting poll gets a task before it is queued.
    TaskService handing_{*store_, {}, {}, &polls_};
};

TEST_F(AgentPollsTest, WhatIsThereIsAnsweredAtOnce) {
    const Uuid id = Submit();
    const Poll poll = Claim(Wish("w"));
    EXPECT_TRUE(poll.served());
    EXPECT_EQ(poll.answer->runs, std::vector<Uuid>{id});
    EXPECT_EQ(StatusOf(id).owner, "w");
    EXPECT_TRUE(Claim(Wish("w", "t", Duration::zero())).empty()) << "it does not wait";
    EXPECT_EQ(polls_.waiting(), 0U);
}

TEST_F(AgentPollsTest, ACommitAnswersThePoll) {
    const Poll poll = Claim(Wish("w"));
    EXPECT_EQ(polls_.waiting(), 1U);
    polls_.RunOnce();
    EXPECT_TRUE(poll.waits());
    const Uuid id = Submit();
    polls_.RunOnce();
    EXPECT_TRUE(poll.served());
    EXPECT_EQ(StatusOf(id).owner, "w");
    EXPECT_EQ(polls_.waiting(), 0U);
}

TEST_F(AgentPollsTest, TheFirstToComeIsServedFirst) {
    const Poll one = Claim(Wish("one"));
    const Poll two = Claim(Wish("two"));
    const Poll other = Claim(Wish("other", "x"));
    Submit();
    const Poll late = Claim(Wish("late", "t", Duration::zero()));
    EXPECT_TRUE(late.served()) << "who does not wait takes what there is";
    Submit();
    polls_.RunOnce();
    EXPECT_TRUE(one.served());
    EXPECT_TRUE(two.waits());
    EXPECT_TRUE(other.waits());
    const Uuid id = Submit();
    const Poll behind = Claim(Wish("behind"));
    EXPECT_TRUE(behind.waits()) << "although there is a run: others wait for it";
    polls_.RunOnce();
    EXPECT_TRUE(two.served());
    EXPECT_TRUE(behind.waits());
    EXPECT_EQ(StatusOf(id).owner, "two");
    Submit();
    polls_.RunOnce();
    EXPECT_TRUE(behind.served());
}

TEST_F(AgentPollsTest, OnePollMayTakeAll) {
    model::AgentClaim greedy = Wish("greedy");
    greedy.max = 10;
    const Poll one = Claim(greedy);
    const Poll two = Claim(Wish("two"));
    std::vector<NewTask> tasks(4);
    for (NewTask& task : tasks) task.type = "t";
    ASSERT_TRUE(tasks_.Submit(tasks));
    polls_.RunOnce();
    EXPECT_TRUE(one.served());
    EXPECT_TRUE(two.waits()) << "nothing is left";
}

TEST_F(AgentPollsTest, APollEndsWithItsTime) {
    const Poll poll = Claim(Wish("w", "t", seconds(2)));
    const SteadyPoint next = polls_.RunOnce();
    EXPECT_LE(next, clock_.SteadyNow() + seconds(1)) << "the net";
    clock_.Advance(seconds(1) + milliseconds(999));
    polls_.RunOnce();
    EXPECT_TRUE(poll.waits());
    clock_.Advance(milliseconds(1));
    polls_.RunOnce();
    EXPECT_TRUE(poll.empty());
    EXPECT_EQ(polls_.waiting(), 0U);
}

TEST_F(AgentPollsTest, ARunThatComesDueAnswersIt) {
    const Uuid id = Submit("t", milliseconds(300));
    const Poll poll = Claim(Wish("w"));
    EXPECT_EQ(polls_.RunOnce(), clock_.SteadyNow() + milliseconds(300));
    clock_.Advance(milliseconds(300));
    polls_.RunOnce();
    EXPECT_TRUE(poll.served());
    EXPECT_EQ(StatusOf(id).owner, "w");
}

TEST_F(AgentPollsTest, WhoHasGoneGetsNothing) {
    const Poll gone = Claim(Wish("gone"));
    const Poll here = Claim(Wish("here"));
    gone.Leave();
    const Uuid id = Submit();
    polls_.RunOnce();
    EXPECT_TRUE(here.served());
    EXPECT_EQ(StatusOf(id).owner, "here");
    EXPECT_EQ(StatusOf(id).attempt, 1);
}

TEST_F(AgentPollsTest, WhatWasClaimedForOneWhoLeftIsGivenBack) {
    const Uuid id = Submit();
    Poll poll;
    AgentPoll made = Made(poll, Wish("gone"));
    poll.Leave();
    polls_.Claim(std::move(made));
    EXPECT_EQ(StatusOf(id).state, model::RunState::kQueued);
    EXPECT_EQ(StatusOf(id).failures, 0);
    EXPECT_TRUE(Claim(Wish("w")).served());
}

TEST_F(AgentPollsTest, ThereIsRoomForSoMany) {
    for (const char* name : {"one", "two", "three"}) EXPECT_TRUE(Claim(Wish(name)).waits());
    const Poll refused = Claim(Wish("four"));
    EXPECT_EQ(refused.answer->failed, Code::kExhausted);
}

TEST_F(AgentPollsTest, WhoeverWaitsIsAnsweredBeforeAStop) {
    const Poll poll = Claim(Wish("w"));
    EXPECT_FALSE(polls_.draining());
    polls_.Drain();
    EXPECT_TRUE(poll.empty());
    EXPECT_TRUE(polls_.draining());
    EXPECT_TRUE(Claim(Wish("late")).empty()) << "nobody waits any more";
    EXPECT_EQ(polls_.waiting(), 0U);
}

TEST_F(AgentPollsTest, LooksInVainKeepADistance) {
    const Poll poll = Claim(Wish("w", "rare"));
    for (int i = 0; i < 9; ++i) {
        Submit("common");
        polls_.RunOnce();
    }
    const Uuid id = Submit("rare");
    EXPECT_EQ(polls_.RunOnce(), clock_.SteadyNow() + milliseconds(5));
    EXPECT_TRUE(poll.waits());
    clock_.Advance(milliseconds(5));
    polls_.RunOnce();
    EXPECT_TRUE(poll.served());
    EXPECT_EQ(StatusOf(id).owner, "w");
}

// Rows that other programs write into the tables cause no wake-up: the polls listen to a store that
// never changes.
TEST_F(AgentPollsTest, ARunWithoutAWakeUpIsFoundWithinASecond) {
    const auto silent = store_kit::MakeStore(store_memory::OpenMemory(clock_), ids_);
    AgentPolls polls(agents_, *silent, clock_, {.max_polls = 3, .longest_sleep = seconds(1)});
    const Poll poll;
    polls.Claim(Made(poll, Wish("w")));
    polls.RunOnce();
    const Uuid id = Submit();
    EXPECT_LE(polls.RunOnce(), clock_.SteadyNow() + seconds(1));
    EXPECT_TRUE(poll.waits()) << "nothing told of the run";
    clock_.Advance(seconds(1));
    polls.RunOnce();
    EXPECT_EQ(poll.answer->runs, std::vector<Uuid>{id});
}

TEST_F(AgentPollsTest, AClaimThatTheStoreRefusesIsAnsweredWithTheError) {
    const Poll poll;
    polls_.Claim(Made(poll, Wish("")));
    EXPECT_EQ(poll.answer->failed, Code::kInvalidArgument) << "an owner without a name";
}

TEST_F(AgentPollsTest, AStoreThatFailsIsAskedAgain) {
    store::FaultPlan faults;
    const auto faulty = store::MakeFaultyStore(*store_, faults);
    AgentService agents(*faulty, {});
    AgentPolls polls(agents, *faulty, clock_, {.max_polls = 3, .longest_sleep = minutes(1)});
    const Poll poll;
    polls.Claim(Made(poll, Wish("w", "t", minutes(5))));
    polls.RunOnce();
    const Uuid id = Submit();
    faults.Next("runs.Exchange", {.kind = store::FaultKind::kErrorBefore});
    EXPECT_EQ(polls.RunOnce(), clock_.SteadyNow() + seconds(1));
    EXPECT_TRUE(poll.waits()) << "the poll is not lost with the error";
    EXPECT_EQ(polls.waiting(), 1U);
    clock_.Advance(seconds(1));
    polls.RunOnce();
    EXPECT_EQ(poll.answer->runs, std::vector<Uuid>{id});
}

TEST_F(AgentPollsTest, ATaskThatSomebodyWaitsForIsHisWithItsSubmission) {
    const Poll poll = Claim(Wish("w"));
    polls_.RunOnce();
    const std::uint64_t commits = polls_.commits();
    const auto made = handing_.SubmitOne(Task());
    EXPECT_EQ(made->verdict, store::SubmitVerdict::kStarted);
    EXPECT_TRUE(poll.served()) << "without a look";
    EXPECT_EQ(poll.answer->runs, std::vector<Uuid>{made->id});
    EXPECT_EQ(StatusOf(made->id).state, model::RunState::kRunning);
    EXPECT_EQ(StatusOf(made->id).owner, "w");
    EXPECT_EQ(polls_.waiting(), 0U);
    EXPECT_EQ(polls_.commits(), commits) << "nobody need look";
    EXPECT_TRUE(Claim(Wish("w", "t", Duration::zero())).empty());
}

TEST_F(AgentPollsTest, ItIsQueuedWhereNobodyWaitsForIt) {
    const Poll poll = Claim(Wish("w", "other"));
    polls_.RunOnce();
    EXPECT_EQ(handing_.SubmitOne(Task())->state, model::RunState::kQueued);
    EXPECT_EQ(handing_.SubmitOne(Task("other", seconds(1)))->state, model::RunState::kScheduled);
    EXPECT_TRUE(poll.waits());
    EXPECT_EQ(polls_.waiting(), 1U);
}

TEST_F(AgentPollsTest, WhatWasReadyBeforeGoesFirst) {
    const Poll poll = Claim(Wish("w"));
    polls_.RunOnce();
    const Uuid older = Submit();
    EXPECT_EQ(handing_.SubmitOne(Task())->state, model::RunState::kQueued);
    polls_.RunOnce();
    EXPECT_TRUE(poll.served());
    EXPECT_EQ(StatusOf(older).owner, "w");
}

TEST_F(AgentPollsTest, WhoIsNotGivenItWaitsOn) {
    NewTask unique = Task();
    unique.unique.key = "k";
    ASSERT_TRUE(tasks_.SubmitOne(unique));
    EXPECT_TRUE(Claim(Wish("first")).served());
    const Poll poll = Claim(Wish("w"));
    polls_.RunOnce();
    EXPECT_EQ(handing_.SubmitOne(unique)->verdict, store::SubmitVerdict::kSameKey);
    EXPECT_TRUE(poll.waits());
    EXPECT_EQ(polls_.waiting(), 1U);
    polls_.RunOnce();  // looks for runs that came while the poll was taken out
    EXPECT_EQ(handing_.SubmitOne(Task())->verdict, store::SubmitVerdict::kStarted);
    EXPECT_TRUE(poll.served());
}

TEST_F(AgentPollsTest, WhatIsHandedToOneWhoLeftIsQueued) {
    const Poll poll = Claim(Wish("gone"));
    polls_.RunOnce();
    poll.Leave();
    const auto made = handing_.SubmitOne(Task());
    EXPECT_EQ(StatusOf(made->id).state, model::RunState::kQueued);
    EXPECT_EQ(StatusOf(made->id).failures, 0);
    EXPECT_TRUE(Claim(Wish("w")).served());
}

TEST_F(AgentPollsTest, ATaskWithDemandsIsQueuedWhoeverWaits) {
    model::AgentClaim labelled = Wish("w");
    labelled.labels["gpu"] = "yes";
    const Poll poll = Claim(labelled);
    polls_.RunOnce();
    NewTask task = Task();
    task.selector["gpu"] = "yes";
    const auto made = handing_.SubmitOne(task);
    EXPECT_EQ(made->state, model::RunState::kQueued);
    polls_.RunOnce();
    EXPECT_TRUE(poll.served());
    EXPECT_EQ(StatusOf(made->id).owner, "w");
}

TEST_F(AgentPollsTest, APollThatComesBackToItsLineKeepsItsDeadline) {
    const Poll poll = Claim(Wish("w", "t", seconds(2)));
    polls_.RunOnce();
    {
        model::Run run;
        run.kind = model::ActionKind::kQueue;
        run.type = "t";
        const auto reserved = polls_.Reserve(run);
        ASSERT_TRUE(reserved);
        const Poll gone = Claim(Wish("gone", "x"));
        gone.Leave();
        polls_.RunOnce();  // sweeps while the poll is taken out
    }
    EXPECT_LE(polls_.RunOnce(), clock_.SteadyNow() + seconds(2));
    clock_.Advance(seconds(2));
    polls_.RunOnce();
    EXPECT_TRUE(poll.empty());
}

}  // namespace
}  // namespace ksana::engine
