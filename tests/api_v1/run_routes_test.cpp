#include <gtest/gtest.h>

#include "api_v1/v1_fixture.hpp"

namespace ksana::api_v1 {
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
        ASSERT_EQ(applied->at(0).verdict, store::ApplyVerdict::kApplied) << applied->at(0).reason;
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
    ASSERT_EQ(Do(Method::kDelete, "/jobs/j").status, 204);
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

}  // namespace
}  // namespace ksana::api_v1
