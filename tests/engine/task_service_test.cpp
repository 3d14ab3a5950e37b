#include "ksana/engine/services/task_service.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/service_fixture.hpp"
#include "ksana/engine/services/type_cache.hpp"

namespace ksana::engine {
namespace {

using model::RunState;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using store::SubmitVerdict;

class TaskServiceTest : public ServiceFixture {
  protected:
    static NewTask Task(std::string type = "mail") {
        NewTask task;
        task.type = std::move(type);
        task.payload = R"({"to":"a"})";
        return task;
    }

    model::Run Stored(const Uuid& id) { return store_->runs().Get(id)->run; }
    model::Run Made(NewTask task) { return Stored(tasks_.SubmitOne(std::move(task))->id); }

    std::vector<std::string> PathsOf(const Error& error) {
        std::vector<std::string> paths;
        for (const Problem& problem : error.problems) paths.push_back(problem.path);
        return paths;
    }

    TypeCache types_{*store_};
    TaskService tasks_{*store_,
                       [this](const std::string& code) { return types_.Find(code); },
                       {.timeout = seconds(10), .retry = {.max_retries = 3}}};
    TimePoint start_ = clock_.Now();
};

TEST_F(TaskServiceTest, ATaskBecomesARunThatCanBeClaimed) {  // T-01
    NewTask task = Task();
    task.tenant = "acme";
    task.creator = "shop";
    task.category = "bulk";
    task.priority = 7;
    task.parent = ids_.Next();
    task.selector["gpu"] = "yes";
    const auto outcome = tasks_.SubmitOne(task);
    ASSERT_TRUE(outcome) << outcome.error().Describe();
    EXPECT_EQ(outcome->verdict, SubmitVerdict::kStored);
    EXPECT_EQ(outcome->state, RunState::kQueued);
    const model::Run run = Stored(outcome->id);
    ASSERT_TRUE(outcome->started);
    EXPECT_EQ(*outcome->started, run) << "the answer needs no read";
    EXPECT_EQ(run.type, "mail");
    EXPECT_EQ(run.payload, task.payload);
    EXPECT_EQ(run.tenant, "acme");
    EXPECT_EQ(run.creator, "shop");
    EXPECT_EQ(run.category, "bulk");
    EXPECT_EQ(run.priority, 7);
    EXPECT_EQ(run.parent, task.parent);
    EXPECT_EQ(run.selector, task.selector);
    EXPECT_EQ(run.kind, model::ActionKind::kQueue);
    EXPECT_EQ(run.trigger, model::RunTrigger::kSubmitted);
    EXPECT_EQ(run.status.ready_at, start_) << "the store's clock";
    EXPECT_EQ(run.policy.timeout, seconds(10)) << "the server's";
    EXPECT_EQ(run.policy.retry.max_retries, 3);
    const auto claimed = store_->runs().Claim(
        {.filter = {.types = {"mail"}, .labels = task.selector}, .owner = "agent"});
    ASSERT_EQ(claimed->runs.size(), 1U);
    EXPECT_EQ(claimed->runs[0].id, run.id);
}

// The clock of a transaction may be behind a time that was read before it.
TEST_F(TaskServiceTest, WhatMayStartAtOnceDoesNotWaitForTheClock) {  // T-03
    TaskService tasks(*store_,
                      [this](const std::string&) {
                          clock_.JumpWall(std::chrono::milliseconds(-1));
                          return nullptr;
                      },
                      {});
    NewTask past = Task();
    past.start_at = start_ - hours(1);
    EXPECT_EQ(tasks.SubmitOne(past)->state, RunState::kQueued);
    NewTask at_once = Task();
    at_once.delay = seconds(0);
    EXPECT_EQ(tasks.SubmitOne(at_once)->state, RunState::kQueued);
}

TEST_F(TaskServiceTest, WhatItDoesNotSayIsItsTypes) {  // T-06
    model::RunType type;
    type.code = "mail";
    type.category = "post";
    type.timeout = minutes(5);
    type.retry = model::RetryPolicy{.max_retries = 9};
    type.need_manual = true;
    type.callbacks.success.url = "http://127.0.0.1/done";
    ASSERT_TRUE(store_->types().Put({.type = type}));
    ASSERT_TRUE(types_.Refresh());
    const model::Run run = Made(Task());
    EXPECT_EQ(run.category, "post");
    EXPECT_EQ(run.policy.timeout, minutes(5));
    EXPECT_EQ(run.policy.retry.max_retries, 9);
    EXPECT_TRUE(run.policy.need_manual);
    EXPECT_TRUE(run.policy.success_callback);
    EXPECT_FALSE(run.policy.error_callback);
    NewTask own = Task();
    own.category = "urgent";
    own.timeout = seconds(1);
    own.retry = model::RetryPolicy{.max_retries = 0};
    own.need_manual = false;
    const model::Run other = Made(own);
    EXPECT_EQ(other.category, "urgent");
    EXPECT_EQ(other.policy.timeout, seconds(1));
    EXPECT_EQ(other.policy.retry.max_retries, 0);
    EXPECT_FALSE(other.policy.need_manual);
    EXPECT_TRUE(other.policy.success_callback) << "whom to tell is the type's alone";
}

TEST_F(TaskServiceTest, ItsTimeMayBeLater) {
    NewTask at = Task();
    at.start_at = start_ + hours(1);
    const auto outcome = tasks_.SubmitOne(at);
    EXPECT_EQ(outcome->state, RunState::kScheduled);
    EXPECT_EQ(Stored(outcome->id).status.ready_at, start_ + hours(1));
    NewTask in = Task();
    in.delay = minutes(2);
    EXPECT_EQ(Made(in).status.ready_at, start_ + minutes(2));
    NewTask past = Task();
    past.start_at = start_ - hours(24 * 365);
    EXPECT_EQ(Made(past).status.ready_at, start_) << "nobody gets ahead of the others by it";
}

TEST_F(TaskServiceTest, AUniqueKeyIsAnsweredWithWhoHoldsIt) {
    NewTask task = Task();
    task.unique.key = "order-1";
    const auto first = tasks_.SubmitOne(task);
    const auto second = tasks_.SubmitOne(task);
    EXPECT_EQ(second->verdict, SubmitVerdict::kSameKey);
    EXPECT_EQ(second->id, first->id);
    EXPECT_EQ(second->state, RunState::kQueued);
    NewTask other = task;
    other.tenant = "acme";
    EXPECT_EQ(tasks_.SubmitOne(other)->verdict, SubmitVerdict::kStored) << "a tenant has its own";
    ASSERT_TRUE(store_->runs().Apply(
        {{.run_id = first->id, .event = {.kind = model::EventKind::kCancel}}}));
    EXPECT_EQ(tasks_.SubmitOne(task)->verdict, SubmitVerdict::kStored) << "it is over";
}

TEST_F(TaskServiceTest, AKeyMayHoldForATimeAndInChosenStates) {
    NewTask task = Task();
    task.unique = {.key = "k", .states = model::kAllStates, .period = minutes(10)};
    const auto first = tasks_.SubmitOne(task);
    ASSERT_TRUE(store_->runs().Apply(
        {{.run_id = first->id, .event = {.kind = model::EventKind::kCancel}}}));
    const auto second = tasks_.SubmitOne(task);
    EXPECT_EQ(second->verdict, SubmitVerdict::kSameKey) << "also when it is over";
    EXPECT_EQ(second->state, RunState::kCancelled);
    clock_.Advance(minutes(10));
    EXPECT_EQ(tasks_.SubmitOne(task)->verdict, SubmitVerdict::kStored);
}

TEST_F(TaskServiceTest, TheSameIdTwiceIsOneRun) {
    NewTask task = Task();
    task.id = ids_.Next();
    EXPECT_EQ(tasks_.SubmitOne(task)->verdict, SubmitVerdict::kStored);
    const auto again = tasks_.SubmitOne(task);
    EXPECT_EQ(again->verdict, SubmitVerdict::kSameId);
    EXPECT_EQ(again->id, *task.id);
    EXPECT_EQ(again->state, RunState::kQueued);
}

TEST_F(TaskServiceTest, ManyAtOnceAreAllStoredOrNone) {
    std::vector<NewTask> many(500, Task());
    for (std::size_t i = 0; i < many.size(); ++i) many[i].type = i % 2 == 0 ? "even" : "odd";
    const auto outcomes = tasks_.Submit(many);
    ASSERT_TRUE(outcomes) << outcomes.error().Describe();
    ASSERT_EQ(outcomes->size(), 500U);
    EXPECT_TRUE(std::ranges::all_of(*outcomes, [](const auto& outcome) {
        return outcome.verdict == SubmitVerdict::kStored && outcome.state == RunState::kQueued;
    }));
    many[17].priority = 11;
    many[18].type.clear();
    const auto refused = tasks_.Submit(many);
    ASSERT_FALSE(refused);
    EXPECT_EQ(PathsOf(refused.error()),
              (std::vector<std::string>{"/runs/17/priority", "/runs/18/type"}));
    EXPECT_EQ(*store_->runs().Count({}, 10'000), 500);
    EXPECT_EQ(PathsOf(tasks_.Submit(std::vector<NewTask>(10'001, Task())).error()),
              std::vector<std::string>{"/runs"});
    EXPECT_TRUE(tasks_.Submit({})->empty());
}

TEST_F(TaskServiceTest, EveryFaultIsNamed) {  // K-20
    NewTask task;
    task.id = Uuid{};
    task.type = "a b";
    task.tenant = "";
    task.category = "x/y";
    task.creator = "tab\t";
    task.payload = std::string(store::kMaxPayload + 1, ' ');
    task.priority = -1;
    task.start_at = start_;
    task.delay = -seconds(1);
    task.unique = {.key = std::string(501, 'k'), .states = 0, .period = Duration::zero()};
    task.retry = model::RetryPolicy{.max_retries = -1};
    task.timeout = Duration::zero();
    task.parent = Uuid{};
    task.selector["a b"] = "x";
    const auto refused = tasks_.SubmitOne(task);
    ASSERT_FALSE(refused);
    EXPECT_EQ(PathsOf(refused.error()),
              (std::vector<std::string>{"/id", "/type", "/tenant", "/category", "/creator",
                                        "/payload", "/priority", "/delay", "/delay", "/unique/key",
                                        "/unique/states", "/unique/period", "/retry/max_retries",
                                        "/timeout", "/parent", "/selector/a b"}));
    EXPECT_EQ(*store_->runs().Count({}, 10), 0);
}

}  // namespace
}  // namespace ksana::engine
