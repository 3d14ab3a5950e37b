#include "ksana/engine/workers/worker_watch.hpp"

#include <gtest/gtest.h>

#include "engine/service_fixture.hpp"
#include "ksana/engine/workers/worker_service.hpp"
#include "ksana/model/run/agent.hpp"
#include "ksana/store/faulty_store.hpp"

namespace ksana::engine {
namespace {

using model::ActionKind;
using model::WorkerState;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// Workers, their service and their loop over a memory store.
class WorkerWatchTest : public ServiceFixture {
  protected:
    model::Worker Register(const std::string& name, std::vector<std::string> types = {}) {
        auto made = workers_.Register(
            {.id = name, .incarnation = ids_.Next(), .types = std::move(types), .slots = 4});
        EXPECT_TRUE(made) << made.error().Describe();
        return made->worker;
    }
    void Beat(const model::Worker& worker) {
        ASSERT_TRUE(workers_.Beat({.worker_id = worker.id, .incarnation = worker.incarnation}));
    }
    Uuid SubmitFor(const model::Worker& worker) {
        model::Run run;
        run.id = ids_.Next();
        run.type = run.id.ToString();  // so that the claim takes no other
        run.policy.retry = {.max_retries = 3, .interval = {}};
        EXPECT_TRUE(store_->runs().Submit({.now = clock_.Now(), .runs = {run}}));
        const auto claimed = store_->runs().Claim(
            {.filter = {.types = {run.type}}, .owner = model::OwnerOf(worker), .lease = hours(5)},
            clock_.Now());
        EXPECT_EQ(claimed->runs.size(), 1U);
        return run.id;
    }
    bool Runs(const Uuid& id) {
        return store_->runs().Get(id)->run.status.state == model::RunState::kRunning;
    }
    Step Look() {
        watch_.Hint();
        clock_.Advance(milliseconds(500));
        auto step = watch_.RunOnce();
        EXPECT_TRUE(step) << step.error().Describe();
        return *step;
    }
    WorkerState StateOf(const std::string& name) { return workers_.Get(name)->state; }

    WorkerDirectory directory_{*store_, clock_, seconds(90)};
    AgentPresence agents_{clock_};
    WorkerService workers_{*store_, directory_, agents_, {}};
    WorkerWatch watch_{*store_, directory_, agents_, clock_, {}};
};

// D-06: silent for longer than the timeout, to the moment; the loop wakes by itself.
TEST_F(WorkerWatchTest, ASilentWorkerLosesItsRuns) {
    Look();
    clock_.Advance(seconds(30));  // the grace of a fresh server
    const model::Worker worker = Register("w");
    const TimePoint registered = clock_.Now();
    const Uuid run = SubmitFor(worker);
    const Step step = Look();
    EXPECT_EQ(step.next, registered + seconds(90) + Duration(1));
    clock_.Advance(registered + seconds(90) - clock_.Now());
    ASSERT_TRUE(watch_.RunOnce());
    EXPECT_TRUE(Runs(run));
    EXPECT_EQ(StateOf("w"), WorkerState::kAlive);
    clock_.Advance(Duration(1));
    ASSERT_TRUE(watch_.RunOnce());
    EXPECT_FALSE(Runs(run));
    EXPECT_EQ(StateOf("w"), WorkerState::kDown);
    EXPECT_TRUE(store_->workers().Get("w")->reaped);
    Beat(worker);
    EXPECT_EQ(StateOf("w"), WorkerState::kAlive);
}

// A server that could not hear the workers does not take them for dead at once.
TEST_F(WorkerWatchTest, AFreshServerGivesThemTime) {
    const model::Worker worker = Register("w");
    const Uuid run = SubmitFor(worker);
    clock_.Advance(minutes(10));
    Look();
    EXPECT_TRUE(Runs(run));
    clock_.Advance(seconds(29));
    Beat(worker);
    clock_.Advance(seconds(2));
    Look();
    EXPECT_TRUE(Runs(run)) << "it was heard in time";
    clock_.Advance(seconds(91));
    Look();
    EXPECT_FALSE(Runs(run));
}

// D-18: at the registration, and once more for a claim that was under way.
TEST_F(WorkerWatchTest, ASuccessorOrphansTheAttemptsBefore) {
    const model::Worker before = Register("w");
    const Uuid run = SubmitFor(before);
    const model::Worker after = Register("w");
    EXPECT_EQ(after.replaced, before.incarnation);
    EXPECT_FALSE(Runs(run));
    const Uuid late = SubmitFor(before);
    clock_.Advance(seconds(5));
    Look();
    EXPECT_FALSE(Runs(late));
    const Uuid own = SubmitFor(after);
    Look();
    EXPECT_TRUE(Runs(own));
    EXPECT_EQ(*directory_.Check("w", before.incarnation), Standing::kReplaced);
    EXPECT_EQ(*directory_.Check("w", after.incarnation), Standing::kServing);
    EXPECT_EQ(*directory_.Check("x", after.incarnation), Standing::kUnknown);
}

TEST_F(WorkerWatchTest, RowsOfTheDeadAreDeletedAfterADay) {
    const model::Worker worker = Register("w");
    Register("alive");
    ASSERT_TRUE(workers_.Deregister("w", worker.incarnation));
    Look();
    EXPECT_TRUE(store_->workers().Get("w"));
    clock_.Advance(hours(24));
    Look();
    EXPECT_EQ(store_->workers().Get("w").error().code, Code::kNotFound);
    EXPECT_TRUE(store_->workers().Get("alive")) << "down, but its attempts were not taken yet";
}

// Agents: noted at once, then at most every ten seconds, all in one write.
TEST_F(WorkerWatchTest, AgentsAreNotedSeldom) {
    model::AgentClaim claim{.worker = "a", .types = {"t"}};
    EXPECT_TRUE(*workers_.Admit(claim));
    Look();
    const TimePoint first = store_->workers().Get("a")->last_heartbeat_at;
    clock_.Advance(seconds(9));
    EXPECT_TRUE(*workers_.Admit(claim));
    Look();
    EXPECT_EQ(store_->workers().Get("a")->last_heartbeat_at, first);
    clock_.Advance(seconds(1));
    EXPECT_TRUE(*workers_.Admit(claim));
    Look();
    EXPECT_GT(store_->workers().Get("a")->last_heartbeat_at, first);
    EXPECT_EQ(store_->workers().Get("a")->registered_at, first);
    model::Run run;
    run.type = "t";
    EXPECT_TRUE(directory_.AnyServes(run));
    EXPECT_TRUE(directory_.Serving(run).empty()) << "an agent cannot be chosen";
}

TEST_F(WorkerWatchTest, ClaimsNeedARegistration) {
    const model::Worker worker = Register("w", {"t"});
    model::AgentClaim claim{.worker = "w", .incarnation = worker.incarnation};
    EXPECT_TRUE(*workers_.Admit(claim));
    EXPECT_EQ(claim.types, worker.types);
    EXPECT_EQ(claim.slots, 4);
    claim.kinds = {ActionKind::kCommand};
    EXPECT_EQ(workers_.Admit(claim).error().code, Code::kInvalidArgument);
    model::AgentClaim agent{.worker = "a", .kinds = {ActionKind::kCommand}};
    EXPECT_EQ(workers_.Admit(agent).error().code, Code::kInvalidArgument);
    model::AgentClaim other{.worker = "w", .incarnation = ids_.Next()};
    EXPECT_EQ(workers_.Admit(other).error().code, Code::kLeaseLost);
    other.worker = "x";
    EXPECT_EQ(workers_.Admit(other).error().code, Code::kNotFound);
    ASSERT_TRUE(workers_.Drain("w", {}));
    claim.kinds = {ActionKind::kQueue};
    EXPECT_FALSE(*workers_.Admit(claim));
}

// The same key goes to the same worker; when one leaves, only its keys move.
TEST_F(WorkerWatchTest, StickyKeysStay) {
    std::vector<model::Worker> all;
    for (const char* name : {"a", "b", "c", "d"}) all.push_back(Register(name));
    const auto choose = [&](int key) {
        model::Run run;
        run.type = "t";
        directory_.Place({.sticky = "key" + std::to_string(key)}, run);
        EXPECT_EQ(run.prefer_for, model::kStickyFor);
        return run.prefer.find(model::kWorkerLabel)->second;
    };
    std::map<int, std::string> before;
    std::map<std::string, int> shares;
    for (int key = 0; key < 400; ++key) ++shares[before[key] = choose(key)];
    for (const auto& [name, share] : shares) EXPECT_GT(share, 60) << name;
    ASSERT_TRUE(workers_.Deregister("b", all[1].incarnation));
    for (int key = 0; key < 400; ++key) {
        if (before[key] == "b") {
            EXPECT_NE(choose(key), "b");
        } else {
            EXPECT_EQ(choose(key), before[key]);
        }
    }
}

// The end of a preference is rung on the change feed.
TEST_F(WorkerWatchTest, ThePreferenceEnds) {
    Look();
    int rings = 0;
    const auto heard =
        store_->changes().Subscribe(store::Topic::kTasks, [&](store::Topics) { ++rings; });
    directory_.NotePreference(clock_.Now() + seconds(2));
    const auto step = watch_.RunOnce();
    ASSERT_TRUE(step->next);
    EXPECT_EQ(rings, 0);
    EXPECT_LE(*step->next, clock_.Now() + seconds(2) + milliseconds(50));
    clock_.Advance(*step->next - clock_.Now());
    ASSERT_TRUE(watch_.RunOnce());
    EXPECT_EQ(rings, 1);
    ASSERT_TRUE(watch_.RunOnce());
    EXPECT_EQ(rings, 1);
}

// Found by the simulator: the rows were minutes old when they came, and were judged by the time of
// their arrival.
TEST_F(WorkerWatchTest, AWorkerWhoseRowComesLateIsNotSilent) {
    store::FaultPlan faults;
    const auto slow =
        store::MakeFaultyStore(*store_, faults, [this](Duration delay) { clock_.Advance(delay); });
    WorkerDirectory directory(*slow, clock_, seconds(90));
    WorkerWatch watch(*slow, directory, agents_, clock_, {});
    ASSERT_TRUE(watch.RunOnce());
    clock_.Advance(seconds(30));  // the grace of a fresh server
    const model::Worker worker = Register("w");
    const Uuid run = SubmitFor(worker);
    watch.Hint();
    faults.Next("workers.List", {store::FaultKind::kLateAnswer, minutes(2)});
    const auto step = watch.RunOnce();
    ASSERT_TRUE(step);
    EXPECT_TRUE(Runs(run)) << "it may have sent heartbeats meanwhile";
    ASSERT_TRUE(step->next);
    EXPECT_LE(*step->next, clock_.Now()) << "looks again at once";
    clock_.Advance(milliseconds(500));
    ASSERT_TRUE(watch.RunOnce());
    EXPECT_FALSE(Runs(run)) << "it has sent none";
}

}  // namespace
}  // namespace ksana::engine
