#include <gtest/gtest.h>

#include "api_v1/v1_fixture.hpp"

namespace ksana::api {
namespace {

using api::HeaderOf;
using std::chrono::minutes;

class V1JobsTest : public V1Fixture {
  protected:
    Response Put(const std::string& target, const std::string& body,
                 const std::vector<Header>& headers = {}) {
        return Do(HttpMethod::kPut, target, body, headers);
    }
    Response Patch(const std::string& target, const std::string& body,
                   const std::vector<Header>& headers = {}) {
        return Do(HttpMethod::kPatch, target, body, headers);
    }
    Response Delete(const std::string& target, const std::vector<Header>& headers = {}) {
        return Do(HttpMethod::kDelete, target, "", headers);
    }
    std::string TagOf(const std::string& id) { return HeaderOf(Get("/jobs/" + id), "ETag"); }
};

TEST_F(V1JobsTest, AJobIsMadeAndShown) {
    const Response made = Post("/jobs", JobText("j", R"(,"labels":{"a":"b"},"priority":7)"));
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(HeaderOf(made, "Location"), "/api/v1/jobs/j");
    const Response shown = Get("/jobs/j");
    EXPECT_EQ(shown.status, 200);
    EXPECT_EQ(shown.body, made.body);
    EXPECT_EQ(HeaderOf(shown, "ETag"), HeaderOf(made, "ETag"));
    for (const std::string_view part :
         {R"("id":"j")", R"("version":1)", R"("labels":{"a":"b"})", R"("priority":7)",
          R"("total_runs":0)", R"("next_run_at":")", R"("overlap":"skip")"}) {
        EXPECT_TRUE(Has(shown, part)) << part << shown.body;
    }
    EXPECT_EQ(Post("/jobs", JobText("j")).status, 409);
    EXPECT_EQ(Get("/jobs/none").status, 404);
    EXPECT_EQ(Get("/jobs/j?x=1").status, 400);
}

TEST_F(V1JobsTest, ACopyOfAnAnswerIsADefinition) {
    const Response made = Post("/jobs", JobText("j"));
    const Response put = Put("/jobs/j", made.body, {{"If-Match", HeaderOf(made, "ETag")}});
    ASSERT_EQ(put.status, 200) << put.body;
    std::string other = made.body;
    other.replace(other.find("\"j\""), 3, "\"k\"");
    EXPECT_EQ(Post("/jobs", other).status, 201);
}

TEST_F(V1JobsTest, APutReplacesWhatWasRead) {
    Make("j", R"(,"owner":"ada","priority":9)");
    EXPECT_EQ(Put("/jobs/j", JobText("j")).status, 428);
    const std::string tag = TagOf("j");
    const Response put = Put("/jobs/j", JobText("j", R"(,"group":"g")"), {{"If-Match", tag}});
    ASSERT_EQ(put.status, 200) << put.body;
    EXPECT_TRUE(Has(put, R"("owner":"")") && Has(put, R"("priority":5)")) << put.body;
    EXPECT_TRUE(Has(put, R"("version":2)"));
    EXPECT_EQ(Put("/jobs/j", JobText("j"), {{"If-Match", tag}}).status, 412);
    EXPECT_EQ(Put("/jobs/j", JobText("j"), {{"If-Match", "\"2\""}}).status, 200);
    EXPECT_EQ(Put("/jobs/j", JobText("k"), {{"If-Match", "*"}}).status, 400) << "another id";
    EXPECT_EQ(Put("/jobs/x", JobText("x"), {{"If-Match", "*"}}).status, 404);
}

TEST_F(V1JobsTest, APutCanMakeAJob) {
    EXPECT_EQ(Put("/jobs/j", JobText("k"), {{"If-None-Match", "*"}}).status, 400);
    EXPECT_EQ(Put("/jobs/j", JobText("j"), {{"If-None-Match", "*"}}).status, 201);
    EXPECT_EQ(Put("/jobs/j", JobText("j"), {{"If-None-Match", "*"}}).status, 412);
}

TEST_F(V1JobsTest, APatchChangesWhatItNames) {
    Make("j", R"(,"owner":"ada","timeout":"3s","labels":{"a":"1","b":"2"})");
    const Response patched =
        Patch("/jobs/j", R"({"priority":1,"timeout":null,"labels":{"a":null,"c":"3"}})");
    ASSERT_EQ(patched.status, 200) << patched.body;
    EXPECT_TRUE(Has(patched, R"("owner":"ada")") && Has(patched, R"("priority":1)"));
    EXPECT_TRUE(Has(patched, R"("labels":{"b":"2","c":"3"})")) << patched.body;
    EXPECT_FALSE(Has(patched, "timeout"));
    const Response other = Patch("/jobs/j", R"({"schedule":{"kind":"cron","cron":"0 3 * * *"},)"
                                            R"("type":"queue","queue":{"type":"t"}})");
    ASSERT_EQ(other.status, 200) << other.body;
    EXPECT_TRUE(Has(other, R"("cron":"0 3 * * *")") && !Has(other, R"("every")")) << other.body;
    EXPECT_TRUE(Has(other, R"("queue":{"type":"t")") && !Has(other, R"("http")")) << other.body;
}

TEST_F(V1JobsTest, APatchIsCheckedAsAWhole) {
    Make("j");
    const std::string before = Get("/jobs/j").body;
    for (const std::string wrong : {R"({"pirority":1})", R"({"priority":99})", R"({"id":"k"})",
                                    R"({"id":null})", R"({"name":null})", R"([])", R"("x")",
                                    R"({"schedule":{"cron":"x"}})", R"({"type":"queue"})", ""}) {
        EXPECT_EQ(Patch("/jobs/j", wrong).status, 400) << wrong;
    }
    EXPECT_EQ(Get("/jobs/j").body, before);
    EXPECT_EQ(Patch("/jobs/j", R"({"priority":1})", {{"If-Match", "\"7\""}}).status, 412);
    EXPECT_EQ(Patch("/jobs/j", R"({"priority":1})", {{"If-Match", TagOf("j")}}).status, 200);
    EXPECT_EQ(Patch("/jobs/none", "{}").status, 404);
}

TEST_F(V1JobsTest, ADeleteMayInsist) {
    Make("j");
    const std::string tag = TagOf("j");
    ASSERT_EQ(Patch("/jobs/j", R"({"priority":1})").status, 200);
    EXPECT_EQ(Delete("/jobs/j", {{"If-Match", tag}}).status, 412);
    EXPECT_EQ(Delete("/jobs/j", {{"If-Match", TagOf("j")}}).status, 204);
    EXPECT_EQ(Delete("/jobs/j").status, 404);
    Make("j");
    clock_.Advance(minutes(1));
    EXPECT_EQ(Delete("/jobs/j", {{"If-Match", "\"1.1-0\""}}).status, 412) << "another job";
    model::Job child = store_->jobs().Get("j").value();
    child.id = "child";
    child.depends_on = {{"j", model::OnDependencyFailure::kSkip}};
    ASSERT_TRUE(store_->jobs().Write({.writes = {{.job = child}}}));
    EXPECT_EQ(Delete("/jobs/j", {{"If-Match", TagOf("j")}}).status, 409) << "something needs it";
    EXPECT_EQ(Delete("/jobs/j").status, 409);
}

TEST_F(V1JobsTest, WhatIsNotCarriedOutIsRefused) {
    Make("j");
    const Response patched = Patch("/jobs/j", R"({"depends_on":[{"job":"other"}]})");
    EXPECT_EQ(patched.status, 400);
    EXPECT_TRUE(Has(patched, R"("pointer":"/depends_on/0/job")")) << patched.body;
}

// Workers may run what this server does not.
TEST_F(V1JobsTest, CommandsAreAcceptedAndChecked) {
    const auto post = [&](const std::string& command) {
        return Post("/jobs", R"({"id":"c","name":"n","type":"command","command":)" + command +
                                 R"(,"schedule":{"kind":"every","every":"5m"}})");
    };
    const Response refused = post(R"({"argv":[],"limits":{"files":-1}})");
    EXPECT_EQ(refused.status, 400);
    EXPECT_TRUE(Has(refused, R"("pointer":"/command/argv")")) << refused.body;
    EXPECT_TRUE(Has(refused, R"("pointer":"/command/limits/files")")) << refused.body;
    const Response made = post(R"({"argv":["/bin/true"],"user":"nobody"})");
    EXPECT_EQ(made.status, 201);
    EXPECT_TRUE(Has(made, R"("argv":["/bin/true"],"shell":false)")) << made.body;
    EXPECT_TRUE(Has(made, R"("user":"nobody")")) << made.body;
}

TEST_F(V1JobsTest, ATagFollowsTheRunsButDoesNotHoldUpAChange) {
    Make("j");
    const std::string before = TagOf("j");
    EXPECT_EQ(Get("/jobs/j", {{"If-None-Match", before}}).status, 304);
    ASSERT_EQ(Post("/jobs/j/run").status, 202);
    ASSERT_TRUE(store_->runs().Claim(
        {.filter = {.kind = model::ActionKind::kHttp}, .owner = "o", .limit = 1}));
    const std::string id = IdsOf(Get("/runs")).at(0);
    const auto run = store_->runs().Get(*Uuid::Parse(id))->run;
    model::Event done{.kind = model::EventKind::kSuccess, .exec_id = run.status.exec_id};
    ASSERT_TRUE(store_->runs().Apply({{.run_id = run.id, .event = done}}));
    EXPECT_EQ(Get("/jobs/j", {{"If-None-Match", before}}).status, 200);
    EXPECT_EQ(Patch("/jobs/j", R"({"priority":1})", {{"If-Match", before}}).status, 200);
}

TEST_F(V1JobsTest, VerbsTakeTheirBodies) {
    Make("j");
    const Response paused = Post("/jobs/j/pause", R"({"reason":"moving"})");
    EXPECT_TRUE(Has(paused, R"("enabled":false,"paused_reason":"moving")")) << paused.body;
    EXPECT_TRUE(Has(Post("/jobs/j/resume"), R"("enabled":true,"type")"));
    EXPECT_TRUE(Has(Post("/jobs/j/pause"), R"("enabled":false)"));
    const Response run = Post("/jobs/j/run", R"({"parameters":{"a":[1]},"obeys_overlap":true})");
    ASSERT_EQ(run.status, 202) << run.body;
    const Response shown = Get("/runs/" + TextOf(run, "id"));
    EXPECT_TRUE(Has(shown, R"("payload":{"a":[1]})")) << shown.body;
    EXPECT_TRUE(Has(shown, R"("ignores_overlap":false)")) << shown.body;
    EXPECT_EQ(HeaderOf(run, "Location"), "/api/v1/runs/" + TextOf(run, "id"));
    for (const std::string verb : {"run", "pause", "resume"}) {
        EXPECT_EQ(Post("/jobs/none/" + verb).status, 404) << verb;
        EXPECT_EQ(Post("/jobs/j/" + verb, R"({"resaon":"x"})").status, 400) << verb;
    }
}

TEST_F(V1JobsTest, ManyArePausedByFilter) {
    for (int i = 0; i < 5; ++i) Make(fmt::format("a{}", i), R"(,"group":"g")");
    for (int i = 0; i < 3; ++i) Make(fmt::format("b{}", i));
    EXPECT_EQ(Post("/jobs/pause", "{}").status, 400);
    EXPECT_EQ(Post("/jobs/pause", R"({"group":"g","all":true})").status, 400);
    EXPECT_EQ(Post("/jobs/pause", R"({"gruop":"g"})").status, 400);
    const Response paused = Post("/jobs/pause", R"({"group":"g","reason":"month end"})");
    EXPECT_EQ(paused.body, R"({"changed_count":5,"changed":["a0","a1","a2","a3","a4"],)"
                           R"("failed":[],"more":false})");
    EXPECT_TRUE(Has(Get("/jobs/a3"), R"("paused_reason":"month end")"));
    EXPECT_TRUE(Has(Post("/jobs/pause", R"({"all":true})"), R"("changed_count":3)"));
    EXPECT_TRUE(Has(Post("/jobs/pause", R"({"all":true})"), R"("changed_count":0)"));
    EXPECT_TRUE(Has(Post("/jobs/resume", R"({"q":"a1"})"), R"("changed":["a1"])"));
    EXPECT_TRUE(Has(Post("/jobs/resume", R"({"type":"http"})"), R"("changed_count":7)"));
}

TEST_F(V1JobsTest, OneRequestChangesABoundedNumber) {
    for (int i = 0; i < 1150; ++i) Make(fmt::format("j{:04}", i));
    EXPECT_TRUE(Has(Post("/jobs/pause", R"({"all":true})"), R"("changed_count":1000)"));
    const Response rest = Post("/jobs/pause", R"({"all":true})");
    EXPECT_TRUE(Has(rest, R"("changed_count":150)") && Has(rest, R"("more":false)"));
}

TEST_F(V1JobsTest, FiresAndStatisticsAreTold) {
    Make("j");
    const Response fires = Get("/jobs/j/fires?count=3");
    EXPECT_EQ(fires.status, 200);
    EXPECT_TRUE(Has(fires, R"({"enabled":true,"after_others":false,"items":[{"nominal_at":")"))
        << fires.body;
    EXPECT_TRUE(Has(fires, R"("dst":"none"})"));
    for (const std::string wrong : {"count=0", "count=1001", "count=x", "cuont=1"}) {
        EXPECT_EQ(Get("/jobs/j/fires?" + wrong).status, 400) << wrong;
    }
    const Response none = Get("/jobs/j/statistics");
    EXPECT_TRUE(Has(none, R"("runs":0)") && !Has(none, "success_rate")) << none.body;
    EXPECT_EQ(Get("/jobs/j/statistics?from=yesterday").status, 400);
    EXPECT_EQ(Get("/jobs/none/statistics").status, 404);
    EXPECT_EQ(Get("/jobs/none/fires").status, 404);
}

}  // namespace
}  // namespace ksana::api
