// What workers need of a store: their rows, claims of several kinds, preferences, broadcasts.
#include <set>

#include "conformance/store_fixture.hpp"

namespace ksana::conformance {
namespace {

using model::ActionKind;
using model::RunState;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// D-18: the same name again; D-06: silence, and what is noted about it.
TEST_P(StoreTest, AWorkerReplacesItsFormerIncarnation) {
    const Uuid one = ids_.Next();
    const Uuid two = ids_.Next();
    store::WorkerStore& workers = store().workers();
    const auto first = workers.Register({.id = "w", .incarnation = one}, now_);
    ASSERT_TRUE(first);
    EXPECT_FALSE(first->replaced);
    ASSERT_TRUE(workers.RequestDrain("w"));
    const auto again = workers.Register({.id = "w", .incarnation = one}, now_ + seconds(1));
    EXPECT_EQ(again->registered_at, now_) << "the same process";
    EXPECT_TRUE(again->drain_requested);
    const auto next = workers.Register({.id = "w", .incarnation = two}, now_ + seconds(2));
    EXPECT_EQ(next->replaced, one);
    EXPECT_FALSE(next->drain_requested);
    EXPECT_EQ(next->registered_at, now_ + seconds(2));
    const auto late = workers.Beat({.worker_id = "w", .incarnation = one, .now = now_});
    EXPECT_EQ(late.error().code, Code::kLeaseLost);
    EXPECT_TRUE(workers.NoteReaped("w", now_)) << "not its last heartbeat: nothing happens";
    EXPECT_FALSE(workers.Get("w")->reaped);
    EXPECT_TRUE(workers.NoteReaped("w", now_ + seconds(2)));
    EXPECT_TRUE(workers.Get("w")->reaped);
    EXPECT_FALSE(workers.Beat({.worker_id = "w", .incarnation = two, .now = now_})->reaped);
}

// A request that was held up does not undo what a later process did; D-18.
TEST_P(StoreTest, ARegistrationThatComesLateIsRefused) {
    store::WorkerStore& workers = store().workers();
    FakeClock clock;
    SeededRandom random(1);
    UuidGenerator ids(clock, random);
    const Uuid one = ids.Next();
    clock.Advance(seconds(1));
    const Uuid two = ids.Next();
    const auto start = [&](const Uuid& incarnation, const std::string& host) {
        return workers.Register({.id = "w", .incarnation = incarnation, .host = host}, now_);
    };
    ASSERT_TRUE(start(one, "a"));
    ASSERT_TRUE(start(two, "a"));
    EXPECT_EQ(start(one, "a").error().code, Code::kLeaseLost);
    EXPECT_EQ(workers.Get("w")->incarnation, two);
    EXPECT_TRUE(workers.Beat({.worker_id = "w", .incarnation = two, .now = now_}));
    EXPECT_TRUE(start(one, "b")) << "clocks of two hosts tell no order";
    ASSERT_TRUE(start(two, "a"));
    ASSERT_TRUE(workers.NoteReaped("w", now_));
    EXPECT_TRUE(start(one, "a")) << "the present one is dead: a clock may have been set back";
    ASSERT_TRUE(start(two, "a"));
    ASSERT_TRUE(workers.Deregister("w", two));
    EXPECT_TRUE(start(one, "a")) << "the name is free";
}

// Only the incarnation that is registered gets runs, whatever its server believes.
TEST_P(StoreTest, AClaimOfAReplacedWorkerGetsNothing) {
    const Uuid one = ids_.Next();
    const Uuid two = ids_.Next();
    ASSERT_TRUE(store().workers().Register({.id = "w", .incarnation = one}, now_));
    ASSERT_TRUE(store().workers().Register({.id = "w", .incarnation = two}, now_));
    SubmitOne(MakeRun());
    const auto claim = [&](const std::string& name, const Uuid& incarnation) {
        return store::ClaimParams{
            .filter = {}, .owner = name, .worker = name, .incarnation = incarnation};
    };
    EXPECT_TRUE(runs().Claim(claim("w", one), now_)->runs.empty());
    EXPECT_TRUE(runs().Claim(claim("v", two), now_)->runs.empty());
    // The next claim of the same transaction gets the run.
    store::ExchangeParams both{.now = now_};
    both.more_claims = {claim("w", one), claim("w", two)};
    const auto shared = runs().Exchange(std::move(both));
    ASSERT_TRUE(shared) << shared.error().Describe();
    EXPECT_TRUE(shared->more_claimed[0].runs.empty());
    EXPECT_EQ(shared->more_claimed[1].runs.size(), 1U);
    SubmitOne(MakeRun());
    ASSERT_TRUE(store().workers().RequestDrain("w"));
    EXPECT_TRUE(runs().Claim(claim("w", two), now_)->runs.empty());
}

TEST_P(StoreTest, AgentsAreNotedBesideWorkers) {
    store::WorkerStore& workers = store().workers();
    const Uuid one = ids_.Next();
    ASSERT_TRUE(workers.Register({.id = "w", .incarnation = one}, now_));
    ASSERT_TRUE(workers.NoteAgents({{.id = "w"}, {.id = "b", .types = {"x"}}, {.id = "a"}}, now_));
    EXPECT_FALSE(workers.Get("w")->agent) << "a registered worker keeps its row";
    ASSERT_TRUE(workers.NoteAgents({{.id = "b"}}, now_ + seconds(9)));
    EXPECT_TRUE(workers.Get("b")->agent);
    EXPECT_EQ(workers.Get("b")->registered_at, now_);
    EXPECT_EQ(workers.Get("b")->last_heartbeat_at, now_ + seconds(9));
    EXPECT_EQ(workers.RequestDrain("b").error().code, Code::kConflict);
    EXPECT_EQ(workers.RequestDrain("c").error().code, Code::kNotFound);
    EXPECT_TRUE(workers.ForgetSilent("b", now_ + seconds(9)));
    EXPECT_TRUE(workers.Get("b"));
    EXPECT_TRUE(workers.ForgetSilent("b", now_ + seconds(10)));
    EXPECT_EQ(workers.Get("b").error().code, Code::kNotFound);
}

// One claim serves several kinds, the first by rank; its limit is for all of them together.
TEST_P(StoreTest, AClaimOfSeveralKinds) {
    const auto make = [this](ActionKind kind, int priority) {
        Run run = MakeRun("t");
        run.kind = kind;
        run.priority = priority;
        return run;
    };
    Run placed = make(ActionKind::kHttp, 3);
    placed.selector = {{"zone", "a"}};
    const std::vector<Run> all = {make(ActionKind::kQueue, 1), make(ActionKind::kCommand, 9),
                                  make(ActionKind::kHandler, 5), make(ActionKind::kHttp, 9),
                                  placed};
    Submit(all);
    store::ClaimParams params{.filter = {.kind = ActionKind::kQueue}, .owner = "w/1", .limit = 2};
    params.others = {
        {.kind = ActionKind::kCommand},
        {.kind = ActionKind::kHttp, .labels = {{"zone", "a"}}, .only_selective = true}};
    const auto first = runs().Claim(params, now_);
    ASSERT_TRUE(first) << first.error().Describe();
    ASSERT_EQ(first->runs.size(), 2U);
    EXPECT_EQ(first->runs[0].id, all[1].id);
    EXPECT_EQ(first->runs[1].id, placed.id);
    EXPECT_TRUE(first->more);
    const auto second = runs().Claim(params, now_);
    ASSERT_EQ(second->runs.size(), 1U) << "neither the handler nor a call for the servers";
    EXPECT_EQ(second->runs[0].id, all[0].id);
    EXPECT_EQ(StateOf(all[3].id), RunState::kQueued);
    EXPECT_EQ(Read(placed.id).run.selector, placed.selector);
}

// A preference keeps others away until its end, and only from the first attempt.
TEST_P(StoreTest, PreferredClaimers) {
    Run run = MakeRun();
    run.prefer = {{"gpu", "yes"}, {"zone", "a"}};
    run.prefer_for = seconds(2);
    SubmitOne(run);
    EXPECT_EQ(Read(run.id).run.prefer, run.prefer);
    EXPECT_EQ(Read(run.id).run.prefer_for, seconds(2));
    EXPECT_TRUE(Claim(1).empty());
    EXPECT_TRUE(Claim(1, {.labels = {{"gpu", "yes"}}}).empty()) << "all of them";
    now_ += seconds(2);
    const auto taken = Claim(1);
    ASSERT_EQ(taken.size(), 1U);
    ASSERT_TRUE(runs().Apply(
        {{.run_id = run.id,
          .event = {.kind = model::EventKind::kShutdown, .exec_id = taken[0].status.exec_id}}},
        now_));
    EXPECT_EQ(Claim(1).size(), 1U) << "a second attempt is for anybody";
    Run other = MakeRun();
    other.prefer = {{"zone", "a"}};
    other.prefer_for = hours(1);
    SubmitOne(other);
    EXPECT_EQ(Claim(1, {.labels = {{"zone", "a"}, {"more", "b"}}}).size(), 1U);
}

// A preferred run is not started by whoever stores it.
TEST_P(StoreTest, APreferredRunIsNotStartedAtOnce) {
    Run run = MakeRun();
    run.prefer = {{"zone", "a"}};
    run.prefer_for = seconds(2);
    const auto stored =
        runs().Submit({.now = now_, .runs = {run}, .start = store::StartAs{.owner = "o"}});
    ASSERT_TRUE(stored);
    EXPECT_EQ(stored->at(0).verdict, store::SubmitVerdict::kStored);
}

class Broadcast {
  public:
    explicit Broadcast(UuidGenerator& ids) : ids_(ids) {}

    // Plans one fire of two shards.
    store::JobPlan operator()(const model::Job& job, TimePoint now) {
        store::JobPlan plan{.planned_until = now, .next_run_at = now + minutes(1)};
        model::Run lead;
        lead.id = ids_.Next();
        lead.type = "t";
        lead.trigger = model::RunTrigger::kFire;
        lead.nominal_at = *job.state.next_run_at;
        lead.policy.overlap = model::OverlapPolicy::kSkip;
        lead.status.ready_at = now;
        model::Run other = lead;
        other.id = {};
        other.parent = lead.id;
        other.nominal_at.reset();
        other.policy.ignores_overlap = true;
        plan.runs = {lead};
        plan.followers = {other};
        return plan;
    }

  private:
    UuidGenerator& ids_;
};

// The runs of a broadcast are stored together, once, and do not stand in each other's way.
TEST_P(StoreTest, FollowersOfAFire) {
    Create(MakeJob("j"));
    now_ += minutes(1);
    Broadcast planner(ids_);
    auto planned = jobs().PlanDue({.now = now_}, std::ref(planner));
    ASSERT_TRUE(planned) << planned.error().Describe();
    EXPECT_EQ(planned->runs, 2U);
    const auto both = Claim(5, {.types = {"t"}});
    ASSERT_EQ(both.size(), 2U);
    // Another node plans the same fire: nothing is stored twice.
    auto twice =
        jobs().PlanJobs({.now = now_, .ids = {"j"}}, [&](const model::Job& job, TimePoint now) {
            model::Job before = job;
            before.state.next_run_at = both[0].nominal_at ? both[0].nominal_at : both[1].nominal_at;
            return planner(before, now);
        });
    ASSERT_TRUE(twice) << twice.error().Describe();
    EXPECT_EQ(twice->runs, 0U);
    EXPECT_EQ(twice->duplicates, 1U);
    // The next fire is skipped as a whole while one of them runs.
    now_ += minutes(1);
    auto next = jobs().PlanDue({.now = now_}, std::ref(planner));
    ASSERT_TRUE(next) << next.error().Describe();
    EXPECT_EQ(next->runs, 1U);
    EXPECT_EQ(next->skipped, 1U);
    EXPECT_TRUE(Claim(5, {.types = {"t"}}).empty());
}

}  // namespace
}  // namespace ksana::conformance
