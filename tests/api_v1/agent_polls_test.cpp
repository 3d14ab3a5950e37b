#include "ksana/api/agents/agent_polls.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "engine/service_fixture.hpp"
#include "ksana/engine/services/task_service.hpp"

namespace ksana::api {
namespace {

using http_server::Response;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// Polls without their thread: the tests call RunOnce instead.
class AgentPollsTest : public engine::ServiceFixture {
  protected:
    // The answer to one poll; status 0 while it waits.
    struct Poll {
        std::shared_ptr<Response> answer = std::make_shared<Response>();
        std::shared_ptr<http_server::ReplyState> state;

        Poll() { answer->status = 0; }
        int status() const { return answer->status; }
        const std::string& body() const { return answer->body; }
        void Leave() const { MarkClientGone(*state); }
    };

    static model::AgentClaim Wish(std::string worker, std::string type = "t",
                                  Duration wait = seconds(30)) {
        model::AgentClaim claim;
        claim.worker = std::move(worker);
        claim.types = {std::move(type)};
        claim.wait = wait;
        return claim;
    }

    AgentPoll Made(Poll& poll, model::AgentClaim claim) {
        http_server::Reply reply(
            [answer = poll.answer](Response response) { *answer = std::move(response); }, "/claim",
            "r");
        poll.state = reply.state();
        return {.claim = std::move(claim), .reply = std::move(reply)};
    }
    Poll Claim(model::AgentClaim claim) {
        Poll poll;
        hub_.Claim(Made(poll, std::move(claim)));
        return poll;
    }

    static engine::NewTask Task(const std::string& type = "t", std::optional<Duration> delay = {}) {
        engine::NewTask task;
        task.type = type;
        task.delay = delay;
        return task;
    }
    Uuid Submit(const std::string& type = "t", std::optional<Duration> delay = {}) {
        return tasks_.SubmitOne(Task(type, delay))->id;
    }
    model::RunStatus StatusOf(const Uuid& id) { return store_->runs().Get(id)->run.status; }

    engine::TaskService tasks_{*store_, {}, {}};
    engine::AgentService agents_{*store_, {}};
    AgentPolls hub_{agents_, *store_, clock_, {.max_polls = 3, .longest_sleep = seconds(1)}};
    // As in the server: waiting polls are asked before a task is queued.
    engine::TaskService handing_{
        *store_, {}, {}, [this](const model::Run& run) { return hub_.TakerFor(run); }};
};

TEST_F(AgentPollsTest, WhatIsThereIsAnsweredAtOnce) {
    const Uuid id = Submit();
    const Poll poll = Claim(Wish("w"));
    EXPECT_EQ(poll.status(), 200);
    EXPECT_NE(poll.body().find(id.ToString()), std::string::npos);
    EXPECT_EQ(StatusOf(id).owner, "w");
    EXPECT_EQ(Claim(Wish("w", "t", Duration::zero())).status(), 204) << "it does not wait";
    EXPECT_EQ(hub_.waiting(), 0U);
}

TEST_F(AgentPollsTest, ACommitAnswersThePoll) {
    const Poll poll = Claim(Wish("w"));
    EXPECT_EQ(hub_.waiting(), 1U);
    hub_.RunOnce();
    EXPECT_EQ(poll.status(), 0);
    const Uuid id = Submit();
    hub_.RunOnce();
    EXPECT_EQ(poll.status(), 200);
    EXPECT_EQ(StatusOf(id).owner, "w");
    EXPECT_EQ(hub_.waiting(), 0U);
}

TEST_F(AgentPollsTest, TheFirstToComeIsServedFirst) {
    const Poll one = Claim(Wish("one"));
    const Poll two = Claim(Wish("two"));
    const Poll other = Claim(Wish("other", "x"));
    Submit();
    const Poll late = Claim(Wish("late", "t", Duration::zero()));
    EXPECT_EQ(late.status(), 200) << "who does not wait takes what there is";
    Submit();
    hub_.RunOnce();
    EXPECT_EQ(one.status(), 200);
    EXPECT_EQ(two.status(), 0);
    EXPECT_EQ(other.status(), 0);
    const Uuid id = Submit();
    const Poll behind = Claim(Wish("behind"));
    EXPECT_EQ(behind.status(), 0) << "although there is a run: others wait for it";
    hub_.RunOnce();
    EXPECT_EQ(two.status(), 200);
    EXPECT_EQ(behind.status(), 0);
    EXPECT_EQ(StatusOf(id).owner, "two");
    Submit();
    hub_.RunOnce();
    EXPECT_EQ(behind.status(), 200);
}

TEST_F(AgentPollsTest, OnePollMayTakeAll) {
    model::AgentClaim greedy = Wish("greedy");
    greedy.max = 10;
    const Poll one = Claim(greedy);
    const Poll two = Claim(Wish("two"));
    std::vector<engine::NewTask> tasks(4);
    for (engine::NewTask& task : tasks) task.type = "t";
    ASSERT_TRUE(tasks_.Submit(tasks));
    hub_.RunOnce();
    EXPECT_EQ(one.status(), 200);
    EXPECT_EQ(two.status(), 0) << "nothing is left";
}

TEST_F(AgentPollsTest, APollEndsWithItsTime) {
    const Poll poll = Claim(Wish("w", "t", seconds(2)));
    const SteadyPoint next = hub_.RunOnce();
    EXPECT_LE(next, clock_.SteadyNow() + seconds(1)) << "the net";
    clock_.Advance(seconds(1) + milliseconds(999));
    hub_.RunOnce();
    EXPECT_EQ(poll.status(), 0);
    clock_.Advance(milliseconds(1));
    hub_.RunOnce();
    EXPECT_EQ(poll.status(), 204);
    EXPECT_EQ(hub_.waiting(), 0U);
}

TEST_F(AgentPollsTest, ARunThatComesDueAnswersIt) {
    const Uuid id = Submit("t", milliseconds(300));
    const Poll poll = Claim(Wish("w"));
    EXPECT_EQ(hub_.RunOnce(), clock_.SteadyNow() + milliseconds(300));
    clock_.Advance(milliseconds(300));
    hub_.RunOnce();
    EXPECT_EQ(poll.status(), 200);
    EXPECT_EQ(StatusOf(id).owner, "w");
}

TEST_F(AgentPollsTest, WhoHasGoneGetsNothing) {
    const Poll gone = Claim(Wish("gone"));
    const Poll here = Claim(Wish("here"));
    gone.Leave();
    const Uuid id = Submit();
    hub_.RunOnce();
    EXPECT_EQ(here.status(), 200);
    EXPECT_EQ(StatusOf(id).owner, "here");
    EXPECT_EQ(StatusOf(id).attempt, 1);
}

TEST_F(AgentPollsTest, WhatWasClaimedForOneWhoLeftIsGivenBack) {
    const Uuid id = Submit();
    Poll poll;
    AgentPoll made = Made(poll, Wish("gone"));
    poll.Leave();
    hub_.Claim(std::move(made));
    EXPECT_EQ(StatusOf(id).state, model::RunState::kQueued);
    EXPECT_EQ(StatusOf(id).failures, 0);
    EXPECT_EQ(Claim(Wish("w")).status(), 200);
}

TEST_F(AgentPollsTest, ThereIsRoomForSoMany) {
    for (const char* name : {"one", "two", "three"}) EXPECT_EQ(Claim(Wish(name)).status(), 0);
    const Poll refused = Claim(Wish("four"));
    EXPECT_EQ(refused.status(), 429);
    EXPECT_EQ(refused.answer->headers, (http_server::TextPairs{{"Retry-After", "1"}}));
    Poll exchange;
    AgentPoll made = Made(exchange, Wish("five"));
    made.reports = "[]";
    hub_.Settle(std::move(made), {}, hub_.commits());
    EXPECT_EQ(exchange.status(), 200) << "its reports are stored";
    EXPECT_EQ(exchange.body(), R"({"reports":[],"runs":[]})");
}

TEST_F(AgentPollsTest, WhoeverWaitsIsAnsweredBeforeAStop) {
    const Poll poll = Claim(Wish("w"));
    EXPECT_FALSE(hub_.draining());
    hub_.Drain();
    EXPECT_EQ(poll.status(), 204);
    EXPECT_TRUE(hub_.draining());
    EXPECT_EQ(Claim(Wish("late")).status(), 204) << "nobody waits any more";
    EXPECT_EQ(hub_.waiting(), 0U);
}

TEST_F(AgentPollsTest, LooksInVainKeepADistance) {
    const Poll poll = Claim(Wish("w", "rare"));
    for (int i = 0; i < 9; ++i) {
        Submit("common");
        hub_.RunOnce();
    }
    const Uuid id = Submit("rare");
    EXPECT_EQ(hub_.RunOnce(), clock_.SteadyNow() + milliseconds(5));
    EXPECT_EQ(poll.status(), 0);
    clock_.Advance(milliseconds(5));
    hub_.RunOnce();
    EXPECT_EQ(poll.status(), 200);
    EXPECT_EQ(StatusOf(id).owner, "w");
}

// Rows that other programs write into the tables cause no wake-up.
TEST_F(AgentPollsTest, TheNetFindsWhatNobodyTold) {
    const Poll poll = Claim(Wish("w"));
    hub_.RunOnce();
    clock_.Advance(seconds(1));
    EXPECT_LE(hub_.RunOnce(), clock_.SteadyNow() + seconds(1));
    EXPECT_EQ(poll.status(), 0);
}

TEST_F(AgentPollsTest, AStoreThatFailsIsAskedAgain) {
    // The store refuses the claim of the poll itself: the agent gets the error.
    Poll poll;
    AgentPoll made = Made(poll, Wish(""));
    hub_.Claim(std::move(made));
    EXPECT_EQ(poll.status(), 400) << "the store refuses an owner without a name";
}

TEST_F(AgentPollsTest, ATaskThatSomebodyWaitsForIsHisWithItsSubmission) {
    const Poll poll = Claim(Wish("w"));
    hub_.RunOnce();
    const std::uint64_t commits = hub_.commits();
    const auto made = handing_.SubmitOne(Task());
    EXPECT_EQ(made->verdict, store::SubmitVerdict::kStarted);
    EXPECT_EQ(poll.status(), 200) << "without a look";
    EXPECT_NE(poll.body().find(made->id.ToString()), std::string::npos);
    EXPECT_EQ(StatusOf(made->id).state, model::RunState::kRunning);
    EXPECT_EQ(StatusOf(made->id).owner, "w");
    EXPECT_EQ(hub_.waiting(), 0U);
    EXPECT_EQ(hub_.commits(), commits) << "nobody need look";
    EXPECT_EQ(Claim(Wish("w", "t", Duration::zero())).status(), 204);
}

TEST_F(AgentPollsTest, ItIsQueuedWhereNobodyWaitsForIt) {
    const Poll poll = Claim(Wish("w", "other"));
    hub_.RunOnce();
    EXPECT_EQ(handing_.SubmitOne(Task())->state, model::RunState::kQueued);
    EXPECT_EQ(handing_.SubmitOne(Task("other", seconds(1)))->state, model::RunState::kScheduled);
    EXPECT_EQ(poll.status(), 0);
    EXPECT_EQ(hub_.waiting(), 1U);
}

TEST_F(AgentPollsTest, WhatWasReadyBeforeGoesFirst) {
    const Poll poll = Claim(Wish("w"));
    hub_.RunOnce();
    const Uuid older = Submit();
    EXPECT_EQ(handing_.SubmitOne(Task())->state, model::RunState::kQueued);
    hub_.RunOnce();
    EXPECT_EQ(poll.status(), 200);
    EXPECT_EQ(StatusOf(older).owner, "w");
}

TEST_F(AgentPollsTest, WhoIsNotGivenItWaitsOn) {
    engine::NewTask unique = Task();
    unique.unique.key = "k";
    ASSERT_TRUE(tasks_.SubmitOne(unique));
    EXPECT_EQ(Claim(Wish("first")).status(), 200);
    const Poll poll = Claim(Wish("w"));
    hub_.RunOnce();
    EXPECT_EQ(handing_.SubmitOne(unique)->verdict, store::SubmitVerdict::kSameKey);
    EXPECT_EQ(poll.status(), 0);
    EXPECT_EQ(hub_.waiting(), 1U);
    hub_.RunOnce();  // looks for runs that came while the poll was taken out
    EXPECT_EQ(handing_.SubmitOne(Task())->verdict, store::SubmitVerdict::kStarted);
    EXPECT_EQ(poll.status(), 200);
}

TEST_F(AgentPollsTest, WhatIsHandedToOneWhoLeftIsQueued) {
    const Poll poll = Claim(Wish("gone"));
    hub_.RunOnce();
    poll.Leave();
    const auto made = handing_.SubmitOne(Task());
    EXPECT_EQ(StatusOf(made->id).state, model::RunState::kQueued);
    EXPECT_EQ(StatusOf(made->id).failures, 0);
    EXPECT_EQ(Claim(Wish("w")).status(), 200);
}

TEST_F(AgentPollsTest, ATaskWithDemandsIsQueuedWhoeverWaits) {
    model::AgentClaim labelled = Wish("w");
    labelled.labels["gpu"] = "yes";
    const Poll poll = Claim(labelled);
    hub_.RunOnce();
    engine::NewTask task = Task();
    task.selector["gpu"] = "yes";
    const auto made = handing_.SubmitOne(task);
    EXPECT_EQ(made->state, model::RunState::kQueued);
    hub_.RunOnce();
    EXPECT_EQ(poll.status(), 200);
    EXPECT_EQ(StatusOf(made->id).owner, "w");
}

TEST_F(AgentPollsTest, APollThatComesBackToItsLineKeepsItsDeadline) {
    const Poll poll = Claim(Wish("w", "t", seconds(2)));
    hub_.RunOnce();
    {
        model::Run run;
        run.kind = model::ActionKind::kQueue;
        run.type = "t";
        const auto taker = hub_.TakerFor(run);
        ASSERT_TRUE(taker);
        const Poll gone = Claim(Wish("gone", "x"));
        gone.Leave();
        hub_.RunOnce();  // sweeps while the poll is taken out
    }
    EXPECT_LE(hub_.RunOnce(), clock_.SteadyNow() + seconds(2));
    clock_.Advance(seconds(2));
    hub_.RunOnce();
    EXPECT_EQ(poll.status(), 204);
}

}  // namespace
}  // namespace ksana::api
