#include <gtest/gtest.h>

#include "api_v1/v1_fixture.hpp"
#include "ksana/base/time/time_text.hpp"

namespace ksana::api {
namespace {

using api::HeaderOf;
using model::EventKind;
using Ids = std::vector<std::string>;

class V1RunsTest : public V1Fixture {
  protected:
    V1RunsTest() { Make("j"); }

    std::string Run(const std::string& body = "") {
        return TextOf(Post("/jobs/j/run", body), "id");
    }
    void Start(const std::string& id) {
        const auto claimed = store_->runs().Claim(
            {.filter = {.kind = model::ActionKind::kHttp}, .owner = "o", .limit = 100});
        ASSERT_TRUE(claimed && !claimed->runs.empty()) << id;
    }
    void Report(const std::string& id, EventKind kind, const std::string& error = "") {
        const auto run = store_->runs().Get(*Uuid::Parse(id))->run;
        model::Event event;
        event.kind = kind;
        event.exec_id = run.status.exec_id;
        event.error = error;
        const auto applied = store_->runs().Apply({{.run_id = run.id, .event = event}});
        ASSERT_EQ(applied->at(0).verdict, model::EventVerdict::kApplied) << applied->at(0).reason;
    }
    std::string Failed(const std::string& body = "") {
        std::string id = Run(body);
        Start(id);
        Report(id, EventKind::kPermanentFailure, "no such host");
        return id;
    }
};

TEST_F(V1RunsTest, ARunIsShownWithItsAttempts) {
    const std::string id = Failed(R"({"parameters":{"a":1}})");
    const Response shown = Get("/runs/" + id);
    ASSERT_EQ(shown.status, 200);
    for (const std::string_view part :
         {R"("state":"failed")", R"("last_error":"no such host")", R"("payload":{"a":1})",
          R"("attempts":[{"number":1,"owner":"o")", R"("error":"no such host")"}) {
        EXPECT_TRUE(Has(shown, part)) << part << shown.body;
    }
    EXPECT_FALSE(Has(shown, "exec_id")) << "it is a secret of the attempt";
    EXPECT_FALSE(Has(Get("/runs"), "payload")) << "it may be large";
    EXPECT_EQ(Get("/runs/" + id, {{"If-None-Match", HeaderOf(shown, "ETag")}}).status, 304);
    EXPECT_EQ(Get("/runs/0190b6a5-7c1e-7d2a-8f3b-123456789abc").status, 404);
    EXPECT_EQ(Get("/runs/nonsense").status, 404);
}

TEST_F(V1RunsTest, RunsAreFilteredAndSorted) {
    const std::string failed = Failed();
    clock_.Advance(std::chrono::seconds(1));
    const std::string waiting = Run();
    EXPECT_EQ(IdsOf(Get("/runs")), (Ids{waiting, failed}));
    EXPECT_EQ(IdsOf(Get("/runs?sort=id")), (Ids{failed, waiting}));
    EXPECT_EQ(IdsOf(Get("/runs?sort=-finished_at")), (Ids{failed}));
    EXPECT_EQ(IdsOf(Get("/runs?state=failed")), (Ids{failed}));
    EXPECT_EQ(IdsOf(Get("/runs?state=failed&state=queued")), (Ids{waiting, failed}));
    EXPECT_EQ(IdsOf(Get("/runs?q=no+such+host")), (Ids{failed}));
    EXPECT_EQ(IdsOf(Get("/runs?owner=o")), (Ids{failed}));
    EXPECT_EQ(IdsOf(Get("/runs?job=j&trigger=manual&kind=http")), (Ids{waiting, failed}));
    EXPECT_EQ(IdsOf(Get("/runs?job=k")), Ids());
    EXPECT_EQ(IdsOf(Get("/runs?finished_from=2100-01-01T00:00:00Z")), Ids());
    EXPECT_EQ(IdsOf(Get("/jobs/j/runs?state=queued")), (Ids{waiting}));
    EXPECT_EQ(Get("/jobs/none/runs").status, 404);
    EXPECT_EQ(Get("/jobs/j/runs?job=j").status, 400);
    EXPECT_TRUE(Has(Get("/runs?total=true&limit=1"), R"("count":2)"));
}

TEST_F(V1RunsTest, ACancelReachesWhoeverRunsIt) {
    const std::string waiting = Run();
    EXPECT_EQ(Post("/runs/" + waiting + "/cancel").status, 200);
    EXPECT_EQ(Post("/runs/" + waiting + "/cancel").status, 200) << "it is what was wanted";
    const std::string id = Run();
    Start(id);
    const Response asked = Post("/runs/" + id + "/cancel");
    EXPECT_EQ(asked.status, 202);
    EXPECT_TRUE(Has(asked, R"("state":"running")") && Has(asked, R"("cancel_requested":true)"));
    EXPECT_EQ(Post("/runs/" + id + "/cancel").status, 202);
    Report(id, EventKind::kCancelled);
    EXPECT_EQ(Post("/runs/" + id + "/cancel").status, 200);
    const Response over = Post("/runs/" + Failed() + "/cancel");
    EXPECT_EQ(over.status, 409);
    EXPECT_TRUE(Has(over, "the run is failed")) << over.body;
    EXPECT_EQ(Post("/runs/nonsense/cancel").status, 404);
    EXPECT_EQ(Post("/runs/0190b6a5-7c1e-7d2a-8f3b-123456789abc/cancel").status, 404);
}

TEST_F(V1RunsTest, ARetryOfWhatIsOverIsANewRun) {
    const std::string old = Failed(R"({"parameters":{"a":1}})");
    const std::string before = Get("/runs/" + old).body;
    const Response again = Post("/runs/" + old + "/retry");
    ASSERT_EQ(again.status, 202) << again.body;
    const std::string id = TextOf(again, "id");
    EXPECT_NE(id, old);
    EXPECT_EQ(HeaderOf(again, "Location"), "/api/v1/runs/" + id);
    EXPECT_EQ(TextOf(again, "parent"), old);
    EXPECT_TRUE(Has(Get("/runs/" + id), R"("payload":{"a":1})"));
    EXPECT_EQ(Get("/runs/" + old).body, before) << "a final state is never left";
    EXPECT_EQ(IdsOf(Get("/runs?parent=" + old)), (Ids{id}));
    EXPECT_EQ(Post("/runs/" + id + "/retry").status, 409) << "it has not run yet";
    Start(id);
    Report(id, EventKind::kSuccess);
    EXPECT_EQ(Post("/runs/" + id + "/retry").status, 409) << "it succeeded";
    ASSERT_EQ(Do(HttpMethod::kDelete, "/jobs/j").status, 204);
    const Response gone = Post("/runs/" + old + "/retry");
    EXPECT_EQ(gone.status, 409);
    EXPECT_TRUE(Has(gone, "is gone")) << gone.body;
}

TEST_F(V1RunsTest, ARetryOfWhatIsHeldIsTheRunItself) {
    const std::string id = Run();
    Report(id, EventKind::kHold);
    const Response again = Post("/runs/" + id + "/retry");
    EXPECT_EQ(again.status, 202);
    EXPECT_EQ(TextOf(again, "id"), id);
    EXPECT_TRUE(Has(again, R"("state":"queued")")) << again.body;
}

TEST_F(V1RunsTest, ARepeatedRetryWithItsKeyMakesOneRun) {
    const std::string old = Failed();
    const auto retry = [&] {
        return TextOf(Post("/runs/" + old + "/retry", "", {{"Idempotency-Key", "k"}}), "id");
    };
    const std::string first = retry();
    EXPECT_EQ(retry(), first);
    EXPECT_EQ(Runs("j"), 2U);
}

// T-08, T-09: a person holds a run, sends it back, or closes it with a remark.
TEST_F(V1RunsTest, WhatIsHeldIsSentBackOrClosed) {
    const std::string id = Run();
    const Response early = Post("/runs/" + id + "/resolve", R"({"remark": "x"})");
    EXPECT_EQ(early.status, 409);
    EXPECT_TRUE(Has(early, "the run is queued")) << early.body;
    EXPECT_TRUE(Has(Post("/runs/" + id + "/hold", R"({"remark": "wait"})"), R"("state":"held")"));
    EXPECT_EQ(Post("/runs/" + id + "/hold").status, 200) << "it is what was wanted";
    EXPECT_EQ(IdsOf(Get("/runs?state=held")), Ids{id});
    EXPECT_TRUE(Has(Post("/runs/" + id + "/send-back"), R"("state":"queued")"));
    EXPECT_EQ(Post("/runs/" + id + "/send-back").status, 409);
    ASSERT_EQ(Post("/runs/" + id + "/hold").status, 200);
    const Response closed = Post("/runs/" + id + "/resolve", R"({"remark": "paid by hand"})");
    EXPECT_EQ(closed.status, 200) << closed.body;
    EXPECT_TRUE(Has(closed, R"("state":"resolved")"));
    EXPECT_TRUE(Has(closed, R"("remark":"paid by hand")"));
    EXPECT_EQ(Post("/runs/" + id + "/resolve", R"({"remark": "paid by hand"})").status, 200);
    EXPECT_EQ(Post("/runs/" + id + "/resolve", R"({"remark": "other"})").status, 409);
    EXPECT_EQ(Post("/runs/" + id + "/hold").status, 409);
    const Response audit = Get("/audit?resource_type=run&resource_id=" + id);
    for (const char* part : {R"("action":"held")", R"("action":"sent_back")",
                             R"("action":"resolved")", R"("remark":"paid by hand")"}) {
        EXPECT_TRUE(Has(audit, part)) << part << audit.body;
    }
}

TEST_F(V1RunsTest, ManualWorkRefusesWhatItCannotDo) {
    const std::string id = Run();
    Start(id);
    EXPECT_EQ(Post("/runs/" + id + "/hold").status, 409) << "it runs";
    EXPECT_EQ(Post("/runs/" + id + "/hold", R"({"remrk": "x"})").status, 400);
    const Response long_one =
        Post("/runs/" + id + "/resolve", R"({"remark": ")" + std::string(4'001, 'x') + R"("})");
    EXPECT_EQ(long_one.status, 400);
    EXPECT_TRUE(Has(long_one, "/remark"));
    EXPECT_EQ(Post("/runs/0190b6a5-7c1e-7d2a-8f3b-123456789abc/resolve").status, 404);
    EXPECT_EQ(Post("/runs/nonsense/hold").status, 404);
}

TEST_F(V1RunsTest, WhatEndedLongAgoIsPurged) {
    const std::string old = Failed();
    clock_.Advance(std::chrono::hours(2));
    const std::string before = FormatTime(clock_.Now());
    clock_.Advance(std::chrono::hours(2));
    const std::string young = Failed();
    const std::string waiting = Run();
    const auto purge = [&](const std::string& more) {
        return Post("/runs/purge", R"({"finished_before":")" + before + "\"" + more + "}").body;
    };
    EXPECT_EQ(purge(R"(,"dry_run":true)"), R"({"runs":1,"more":false,"dry_run":true})");
    EXPECT_EQ(purge(R"(,"states":["succeeded"])"), R"({"runs":0,"more":false,"dry_run":false})");
    EXPECT_EQ(Get("/runs/" + old).status, 200);
    EXPECT_EQ(IdsOf(Get("/audit?action=purged")), Ids()) << "nothing was deleted";
    EXPECT_EQ(purge(R"(,"states":["succeeded","failed"])"),
              R"({"runs":1,"more":false,"dry_run":false})");
    EXPECT_EQ(Get("/runs/" + old).status, 404);
    EXPECT_EQ(Get("/runs/" + young).status, 200);
    EXPECT_EQ(Get("/runs/" + waiting).status, 200);
    const Response audit = Get("/audit?action=purged");
    EXPECT_TRUE(Has(audit, before) && Has(audit, "succeeded,failed")) << audit.body;
}

TEST_F(V1RunsTest, APurgeSaysWhatItDeletes) {
    for (const char* body :
         {"", "{}", R"({"finished_before":"soon"})", R"({"states":["failed"]})",
          R"({"finished_before":"2026-01-01T00:00:00Z","states":[]})",
          R"({"finished_before":"2026-01-01T00:00:00Z","states":["failed","queued"]})",
          R"({"finished_before":"2026-01-01T00:00:00Z","state":["failed"]})"}) {
        const Response answer = Post("/runs/purge", body);
        EXPECT_EQ(answer.status, 400) << body << answer.body;
    }
}

TEST_F(V1RunsTest, AnIdOfAnotherRunIsAConflict) {
    const auto batch = [&](const std::string& id, const std::string& payload) {
        return TextOf(Post("/runs/batch", R"({"runs":[{"id":")" + id +
                                              R"(","type":"t","payload":)" + payload + "}]}"),
                      "verdict");
    };
    const std::string id = "0192f0c1-2345-7abc-8def-0123456789ab";
    EXPECT_EQ(batch(id, "1"), "stored");
    EXPECT_EQ(batch(id, "1"), "already");
    EXPECT_EQ(batch(id, "2"), "conflict");
    EXPECT_EQ(batch(Run(), "1"), "conflict") << "a call of a job";
    const std::string one = R"({"id":")" + id + R"(","type":"t","payload":)";
    EXPECT_EQ(Post("/runs", one + "1}").status, 201) << "sent again";
    EXPECT_EQ(Post("/runs", one + "2}").status, 409);
}

}  // namespace
}  // namespace ksana::api
