#include <gtest/gtest.h>

#include "api_v1/v1_fixture.hpp"
#include "ksana/engine/callbacks/callback_follow_up.hpp"

namespace ksana::api {
namespace {

using model::EventKind;
using model::RunState;

class CallbackRoutesTest : public V1Fixture {
  protected:
    void SetUp() override {
        model::RunType type;
        type.code = "mail";
        type.callbacks.success.url = "http://127.0.0.1:9/done";
        type.callbacks.security = model::CallbackSecurity::kAkSk;
        type.callbacks.access_key = "shop";
        type.callbacks.secret_key = "hush-hush";
        ASSERT_TRUE(store_->types().Put({.type = type}));
        ASSERT_TRUE(book_of_types_.Refresh());
    }

    void Report(const model::Run& run, EventKind kind) {
        model::Event event{.kind = kind, .exec_id = run.status.exec_id, .error = "HTTP 500"};
        ASSERT_TRUE(store_->runs().Exchange(
            {.now = {}, .events = {{run.id, event}}, .follow_up = follow_up_, .claim = {}}));
    }
    model::Run Claim(model::ActionKind kind) {
        return store_->runs()
            .Claim({.filter = {.kind = kind}, .owner = "me", .limit = 1})
            ->runs.at(0);
    }
    // Returns the id of a finished task, and its callback.
    std::pair<Uuid, model::Run> Done() {
        model::Run run;
        run.type = "mail";
        run.policy.success_callback = true;
        run.status.ready_at = clock_.Now();
        const Uuid id = store_->runs().Submit({.now = {}, .runs = {run}})->at(0).id;
        Report(Claim(model::ActionKind::kQueue), EventKind::kSuccess);
        return {id, Claim(model::ActionKind::kHttp)};
    }

    engine::TypeCache book_of_types_{*store_};
    const store::FollowUp follow_up_ = engine::MakeCallbackFollowUp(book_of_types_, {});
};

TEST_F(CallbackRoutesTest, AreListedByStateParentAndType) {
    const auto [first, delivered] = Done();
    Report(delivered, EventKind::kSuccess);
    const auto [second, failed] = Done();
    Report(failed, EventKind::kPermanentFailure);
    const auto [third, pending] = Done();
    EXPECT_EQ(IdsOf(Get("/callbacks")).size(), 3U);
    const Response dead = Get("/callbacks?state=failed");
    EXPECT_EQ(IdsOf(dead), std::vector{failed.id.ToString()}) << dead.body;
    EXPECT_TRUE(Has(dead, R"("run_id":")" + second.ToString())) << dead.body;
    EXPECT_TRUE(Has(dead, R"("event":"success","method":"POST","url":"http://127.0.0.1:9/done",)"
                          R"("signed":true,"attempts":1,"last_error":"HTTP 500")"))
        << dead.body;
    EXPECT_FALSE(Has(dead, "hush"));
    EXPECT_EQ(IdsOf(Get("/callbacks?parent=" + first.ToString())),
              std::vector{delivered.id.ToString()});
    EXPECT_EQ(IdsOf(Get("/callbacks?state=pending&state=delivered")).size(), 2U);
    EXPECT_EQ(IdsOf(Get("/callbacks?type=mail")).size(), 3U);
    EXPECT_EQ(IdsOf(Get("/callbacks?type=other")).size(), 0U);
    const Response page = Get("/callbacks?limit=2&total=true");
    EXPECT_EQ(IdsOf(page).size(), 2U);
    EXPECT_TRUE(Has(page, R"("total":{"count":3,)")) << page.body;
    EXPECT_EQ(IdsOf(Get("/callbacks?limit=2&cursor=" + TextOf(page, "next_cursor"))).size(), 1U);
    EXPECT_EQ(Get("/callbacks?state=held").status, 400);
    EXPECT_EQ(Get("/callbacks?stat=failed").status, 400);
}

TEST_F(CallbackRoutesTest, ADeadLetterIsSentAgainUnderItsId) {
    const auto [id, callback] = Done();
    const std::string path = "/callbacks/" + callback.id.ToString() + "/redeliver";
    EXPECT_EQ(Post(path).status, 409) << "it is under way";
    Report(callback, EventKind::kPermanentFailure);
    const Response again = Post(path);
    EXPECT_EQ(again.status, 202) << again.body;
    EXPECT_EQ(TextOf(again, "id"), callback.id.ToString());
    EXPECT_EQ(TextOf(again, "state"), "pending");
    Report(Claim(model::ActionKind::kHttp), EventKind::kSuccess);
    EXPECT_EQ(store_->runs().Get(id)->run.status.state, RunState::kSucceeded);
    EXPECT_EQ(Post(path).status, 409) << "it was delivered";
}

TEST_F(CallbackRoutesTest, OneThatWasCancelledIsFollowedByAnother) {
    const auto [id, callback] = Done();
    Report(callback, EventKind::kCancelled);
    const Response again = Post("/callbacks/" + callback.id.ToString() + "/redeliver");
    EXPECT_EQ(again.status, 202) << again.body;
    EXPECT_NE(TextOf(again, "id"), callback.id.ToString());
    EXPECT_EQ(TextOf(again, "run_id"), id.ToString());
    Report(Claim(model::ActionKind::kHttp), EventKind::kSuccess);
    EXPECT_EQ(store_->runs().Get(id)->run.status.state, RunState::kSucceeded);
}

TEST_F(CallbackRoutesTest, OtherRunsAreNoCallbacks) {
    const auto [id, callback] = Done();
    EXPECT_EQ(Post("/callbacks/" + id.ToString() + "/redeliver").status, 404);
    EXPECT_EQ(Post("/callbacks/x/redeliver").status, 404);
    EXPECT_EQ(Post("/callbacks/0192f0c1-2345-7abc-8def-0123456789ab/redeliver").status, 404);
    EXPECT_EQ(Post("/callbacks/" + callback.id.ToString() + "/redeliver", "[1]").status, 400);
}

TEST_F(CallbackRoutesTest, ManyDeadLettersAreSentAgainAtOnce) {
    std::vector<Uuid> dead;
    for (int i = 0; i < 3; ++i) {
        const auto [id, callback] = Done();
        Report(callback, EventKind::kPermanentFailure);
        dead.push_back(callback.id);
    }
    const auto [id, pending] = Done();
    const auto redeliver = [&](const std::string& body) {
        return Post("/callbacks/redeliver", body).body;
    };
    EXPECT_EQ(redeliver(R"({"state":"failed","type":"other"})"),
              R"({"redelivered":0,"more":false})");
    EXPECT_EQ(redeliver(R"({"state":"failed","type":"mail"})"),
              R"({"redelivered":3,"more":false})");
    for (const Uuid& one : dead) {
        EXPECT_EQ(store_->runs().Get(one)->run.status.state, RunState::kQueued);
    }
    EXPECT_EQ(redeliver(R"({"state":"failed"})"), R"({"redelivered":0,"more":false})");
    EXPECT_TRUE(Has(Get("/audit?action=retried"), "mail"));
    EXPECT_EQ(Post("/callbacks/redeliver").status, 400);
    EXPECT_EQ(Post("/callbacks/redeliver", R"({"type":"mail"})").status, 400);
    EXPECT_EQ(Post("/callbacks/redeliver", R"({"state":"delivered"})").status, 400);
}

TEST_F(CallbackRoutesTest, ManyAreSentInBoundedNumbers) {
    for (std::int64_t i = 0; i < engine::RunService::kMostRedelivered + 50; ++i) {
        const auto [id, callback] = Done();
        Report(callback, EventKind::kPermanentFailure);
    }
    const std::string body = R"({"state":"failed"})";
    EXPECT_EQ(Post("/callbacks/redeliver", body).body, R"({"redelivered":1000,"more":true})");
    EXPECT_EQ(Post("/callbacks/redeliver", body).body, R"({"redelivered":50,"more":false})");
}

// Found even if many older dead letters are of other types.
TEST_F(CallbackRoutesTest, TheDeadLettersOfATypeAreFoundBehindAllOthers) {
    model::Run other;
    other.type = "other";
    other.kind = model::ActionKind::kHttp;
    other.trigger = model::RunTrigger::kCallback;
    for (int batch = 0; batch < 3; ++batch) {
        const auto made =
            store_->runs().Submit({.now = {}, .runs = std::vector<model::Run>(4'000, other)});
        std::vector<model::RunEvent> holds;
        for (const store::Submitted& one : *made) {
            holds.push_back({one.id, {.kind = EventKind::kHold}});
        }
        ASSERT_TRUE(store_->runs().Apply(std::move(holds)));
    }
    Report(Done().second, EventKind::kPermanentFailure);
    EXPECT_EQ(Post("/callbacks/redeliver", R"({"state":"failed","type":"mail"})").body,
              R"({"redelivered":1,"more":false})");
}

TEST_F(CallbackRoutesTest, ARunThatIsClosedTakesItsDeadLetterAlong) {
    const auto [id, callback] = Done();
    Report(callback, EventKind::kPermanentFailure);
    ASSERT_EQ(store_->runs().Get(id)->run.status.state, RunState::kCompleting);
    EXPECT_EQ(Post("/runs/" + id.ToString() + "/resolve", R"({"remark":"told by phone"})").status,
              200);
    const model::Run after = store_->runs().Get(callback.id)->run;
    EXPECT_EQ(after.status.state, RunState::kResolved);
    EXPECT_EQ(after.status.remark, "told by phone");
    EXPECT_EQ(store_->runs().Get(id)->run.status.state, RunState::kResolved);
    EXPECT_EQ(IdsOf(Get("/callbacks?state=failed")), std::vector<std::string>());
}

}  // namespace
}  // namespace ksana::api
