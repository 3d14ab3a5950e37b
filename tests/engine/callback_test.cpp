#include "ksana/engine/callbacks/callback_call.hpp"
#include "ksana/engine/callbacks/callback_follow_up.hpp"

#include <gtest/gtest.h>

#include "engine/dispatcher_fixture.hpp"
#include "ksana/codec/v1/callback_codec.hpp"

namespace ksana::engine {
namespace {

using model::CallbackEvent;
using model::CallbackWanted;
using std::chrono::hours;
using std::chrono::seconds;

model::RunType Mail() {
    model::RunType type;
    type.code = "mail";
    type.callbacks.success = {.url = "http://127.0.0.1:9/done"};
    type.callbacks.error = {.url = "http://127.0.0.1:9/oops",
                            .method = model::CallbackMethod::kPut};
    type.callbacks.security = model::CallbackSecurity::kAkSk;
    type.callbacks.access_key = "shop";
    type.callbacks.secret_key = "new";
    type.callbacks.previous_secret_key = "old";
    return type;
}

// Tasks of a type with callbacks. The test acts as their agent; the callbacks go to the executor.
class CallbackTest : public DispatcherTest {
  protected:
    void SetUp() override {
        DispatcherTest::SetUp();
        Put(Mail());
        Make({.follow_up = follow_up_});
    }

    void Put(const model::RunType& type) {
        ASSERT_TRUE(store_->types().Put({.type = type}));
        ASSERT_TRUE(types_.Refresh());
    }

    // Makes a task that an agent claims and ends with `event`.
    Uuid Ended(model::Event event) {
        model::Run run;
        run.type = "mail";
        run.payload = R"({"n": 1.0})";
        run.policy.retry.max_retries = 0;
        run.policy.success_callback = run.policy.error_callback = true;
        run.status.ready_at = clock_.Now();
        const Uuid id = store_->runs().Submit({.now = {}, .runs = {run}})->at(0).id;
        const auto claimed = store_->runs().Claim({.filter = {}, .owner = "agent", .limit = 1});
        event.exec_id = claimed->runs.at(0).status.exec_id;
        EXPECT_TRUE(store_->runs().Exchange(
            {.now = {}, .events = {{id, std::move(event)}}, .follow_up = follow_up_, .claim = {}}));
        return id;
    }
    Uuid Succeeded() { return Ended({.kind = EventKind::kSuccess, .result = "[2]"}); }

    // Returns the only attempt that the executor has.
    const ActiveAttempt& Started() {
        RunOnce();
        EXPECT_EQ(executor_.attempts.size(), 1U);
        return *executor_.attempts.begin()->second.first;
    }

    TypeCache types_{*store_};
    const store::FollowUp follow_up_ = MakeCallbackFollowUp(types_, {});
};

TEST_F(CallbackTest, SuccessIsTold) {  // T-10
    const Uuid id = Succeeded();
    EXPECT_EQ(StateOf(id), RunState::kCompleting);
    const ActiveAttempt& attempt = Started();
    ASSERT_TRUE(attempt.callback);
    EXPECT_EQ(attempt.run.parent, id);
    EXPECT_EQ(attempt.callback->url, "http://127.0.0.1:9/done");
    EXPECT_EQ(attempt.callback->method, model::CallbackMethod::kPost);
    EXPECT_EQ(attempt.callback->body, R"({"ext":{"n": 1.0},"result":[2]})") << "byte by byte";
    EXPECT_EQ(attempt.callback->access_key, "shop");
    EXPECT_EQ(attempt.callback->secrets, (std::vector<std::string>{"new", "old"}));
    EXPECT_EQ(attempt.run.payload.find("\"old\""), std::string::npos) << "no secret is stored";
    executor_.End(executor_.started.at(0), EventKind::kSuccess);
    RunOnce();
    EXPECT_EQ(StateOf(id), RunState::kSucceeded);
}

TEST_F(CallbackTest, AnErrorIsTold) {  // T-10
    const Uuid id = Ended({.kind = EventKind::kPermanentFailure, .error = "no \"such\" thing"});
    EXPECT_EQ(StateOf(id), RunState::kFailed);
    const ActiveAttempt& attempt = Started();
    EXPECT_EQ(attempt.callback->url, "http://127.0.0.1:9/oops");
    EXPECT_EQ(attempt.callback->method, model::CallbackMethod::kPut);
    EXPECT_EQ(attempt.callback->body,
              R"({"task_id":")" + id.ToString() +
                  R"(","error_info":"no \"such\" thing","ext":{"n": 1.0}})");
}

TEST_F(CallbackTest, IsTriedForHoursAndIsADeadLetterThen) {
    const Uuid id = Succeeded();
    const TimePoint began = clock_.Now();
    std::size_t tries = 0;
    for (; tries < 100; ++tries) {
        RunOnce();
        if (executor_.attempts.empty()) {
            const auto ready = store_->runs().NextWake()->ready;
            if (!ready) break;
            clock_.Advance(*ready - clock_.Now());
            RunOnce();
        }
        ASSERT_EQ(executor_.attempts.size(), 1U);
        executor_.End(executor_.started.back(), EventKind::kRetryableFailure, "HTTP 500");
    }
    EXPECT_EQ(tries, 21U);
    EXPECT_GT(clock_.Now() - began, hours(10));
    EXPECT_LT(clock_.Now() - began, hours(16));
    const auto letter = store_->runs().List({.filter = {.parent = id}})->items.at(0);
    EXPECT_EQ(letter.status.state, RunState::kHeld);
    EXPECT_EQ(StateOf(id), RunState::kCompleting);
}

// The current type decides where the callback goes and which secret signs it.
TEST_F(CallbackTest, AnEditOfTheTypeCountsForWhatWaits) {
    Succeeded();
    model::RunType type = Mail();
    type.callbacks.success = {.url = "http://127.0.0.1:9/moved",
                              .method = model::CallbackMethod::kPut};
    type.callbacks.secret_key = "newer";
    type.callbacks.previous_secret_key = "";
    ASSERT_TRUE(store_->types().Put({.type = type})) << "the book has not seen it yet";
    const ActiveAttempt& attempt = Started();
    EXPECT_EQ(attempt.callback->url, "http://127.0.0.1:9/moved");
    EXPECT_EQ(attempt.callback->method, model::CallbackMethod::kPut);
    EXPECT_EQ(attempt.callback->secrets, std::vector<std::string>{"newer"});
}

TEST_F(CallbackTest, WithoutItsTypeItCannotBeSigned) {
    Succeeded();
    ASSERT_TRUE(store_->types().Delete({.code = "mail"}));
    const ActiveAttempt& attempt = Started();
    EXPECT_NE(attempt.callback->fault.find("the type \"mail\""), std::string::npos);
}

TEST_F(CallbackTest, WithoutItsTypeItGoesWhereItWasToGo) {
    model::RunType type = Mail();
    type.callbacks.security = model::CallbackSecurity::kNone;
    Put(type);
    Succeeded();
    ASSERT_TRUE(store_->types().Delete({.code = "mail"}));
    const ActiveAttempt& attempt = Started();
    EXPECT_EQ(attempt.callback->fault, "");
    EXPECT_EQ(attempt.callback->url, "http://127.0.0.1:9/done");
    EXPECT_TRUE(attempt.callback->secrets.empty());
}

// The node that takes the report may not know yet a type that another node created.
TEST_F(CallbackTest, ATypeThatTheBookDoesNotHaveIsLookedForLater) {
    ASSERT_TRUE(store_->types().Delete({.code = "mail"}));
    ASSERT_TRUE(types_.Refresh());
    Succeeded();
    ASSERT_TRUE(store_->types().Put({.type = Mail()}));
    EXPECT_EQ(Started().callback->url, "http://127.0.0.1:9/done");
}

TEST_F(CallbackTest, WhereTheTypeIsGoneNobodyIsToBeTold) {
    ASSERT_TRUE(store_->types().Delete({.code = "mail"}));
    ASSERT_TRUE(types_.Refresh());
    Succeeded();
    const ActiveAttempt& attempt = Started();
    EXPECT_EQ(attempt.callback->url, "");
    EXPECT_EQ(attempt.callback->fault, "") << "so the executor lets it pass";
}

// Limits and breaker of the host apply to callbacks; the limit of the type does not.
TEST_F(CallbackTest, TheHostIsLimited) {
    const ActiveAttempt& attempt = (Succeeded(), Started());
    const LimitSubject subject = SubjectOf(attempt);
    EXPECT_EQ(subject.host, "127.0.0.1:9");
    EXPECT_EQ(subject.type, "");
}

TEST_F(CallbackTest, WhatIsNoOrderIsAFault) {
    model::Run run;
    run.trigger = model::RunTrigger::kCallback;
    run.payload = "[]";
    EXPECT_NE(ResolveCallback(run, nullptr).fault, "");
}

}  // namespace
}  // namespace ksana::engine
