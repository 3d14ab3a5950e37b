#include <gtest/gtest.h>

#include "api_v1/v1_fixture.hpp"
#include "ksana/codec/records/stored_answer.hpp"

namespace ksana::api {
namespace {

using api::HeaderOf;
using std::chrono::hours;
using std::chrono::minutes;

class FrameTest : public V1Fixture {
  protected:
    Response RunWith(const std::string& key, const std::string& body = "") {
        return Post("/jobs/j/run", body, {{"Idempotency-Key", key}});
    }
    std::size_t KeysKept() {
        return store_->settings()
            .List({.prefix = "api_v1/idempotency/", .limit = 1000, .cursor = {}})
            ->items.size();
    }
};

TEST_F(FrameTest, ProblemsTellEverythingAtOnce) {
    const Response answer =
        Post("/jobs", R"({"nmae":"x","type":"htpp","schedule":{"kind":"every","every":5}})");
    EXPECT_EQ(answer.status, 400);
    EXPECT_EQ(answer.content_type, "application/problem+json");
    EXPECT_EQ(HeaderOf(answer, "Ksana-Version"), "1.2.3");
    for (const std::string_view part :
         {R"("type":"urn:ksana:problem:invalid_argument")", R"("instance":"/api/v1/jobs")",
          R"("request_id":"r1")", R"({"pointer":"/nmae","code":"unknown","detail":)",
          R"(did you mean \"name\"?)", R"({"pointer":"/name","code":"missing")",
          R"({"pointer":"/type","code":"not_allowed")",
          R"("allowed":["http","command","handler","queue"])",
          R"({"pointer":"/schedule/every","code":"wrong_type")"}) {
        EXPECT_TRUE(Has(answer, part)) << part << "\n" << answer.body;
    }
}

TEST_F(FrameTest, BodiesAreJson) {
    EXPECT_EQ(Post("/jobs", JobText("a"), {{"Content-Type", "text/xml"}}).status, 415);
    for (const std::string type : {"application/json", "application/json; charset=utf-8",
                                   "APPLICATION/JSON", "application/x-www-form-urlencoded"}) {
        EXPECT_EQ(Post("/jobs", JobText("a"), {{"Content-Type", type}}).status, 201) << type;
        EXPECT_EQ(Do(HttpMethod::kDelete, "/jobs/a").status, 204);
    }
    EXPECT_EQ(Post("/jobs", "{").status, 400);
    EXPECT_EQ(Post("/jobs", "").status, 400);
    Make("j");
    EXPECT_EQ(Post("/jobs/j/resume", R"({"x":1})").status, 400);
    EXPECT_EQ(Post("/jobs/j/pause", R"([])").status, 400);
}

TEST_F(FrameTest, WhatChangesSomethingTakesNoQuery) {
    Make("j");
    for (const auto& [method, target] :
         std::vector<std::pair<HttpMethod, std::string>>{{HttpMethod::kDelete, "/jobs/j?version=1"},
                                                         {HttpMethod::kPatch, "/jobs/j?version=1"},
                                                         {HttpMethod::kPut, "/jobs/j?force=true"},
                                                         {HttpMethod::kPost, "/jobs?dry_run=true"},
                                                         {HttpMethod::kPost, "/jobs/j/run?a=b"},
                                                         {HttpMethod::kGet, "/openapi.json?x"}}) {
        const Response answer = Do(method, target, method == HttpMethod::kPost ? "" : "{}");
        EXPECT_EQ(answer.status, 400) << target;
        EXPECT_TRUE(Has(answer, R"("pointer":"/query/)")) << answer.body;
    }
    EXPECT_EQ(Get("/jobs/j").status, 200);
    EXPECT_EQ(Runs("j"), 0U);
}

TEST_F(FrameTest, AKeyMakesOneRunOfManyRequests) {
    Make("j");
    const Response first = RunWith("k1", R"({"parameters":{"a":1}})");
    ASSERT_EQ(first.status, 202) << first.body;
    EXPECT_EQ(HeaderOf(first, "Idempotency-Replayed"), "");
    for (int i = 0; i < 3; ++i) {
        const Response again = RunWith("k1", R"({"parameters":{"a":1}})");
        EXPECT_EQ(again.status, 202);
        EXPECT_EQ(again.body, first.body);
        EXPECT_EQ(HeaderOf(again, "Location"), HeaderOf(first, "Location"));
        EXPECT_EQ(HeaderOf(again, "Idempotency-Replayed"), "true");
    }
    EXPECT_EQ(Runs("j"), 1U);
    http_server::Router restarted;
    Mount(restarted);
    router_ = std::move(restarted);
    EXPECT_EQ(RunWith("k1", R"({"parameters":{"a":1}})").body, first.body);
    EXPECT_EQ(RunWith("k2").status, 202);
    EXPECT_EQ(Runs("j"), 2U);
}

TEST_F(FrameTest, AKeyBelongsToOneRequest) {
    Make("j");
    ASSERT_EQ(RunWith("k").status, 202);
    const Response other = RunWith("k", R"({"obeys_overlap":true})");
    EXPECT_EQ(other.status, 422);
    EXPECT_TRUE(Has(other, "idempotency_key_reused"));
    EXPECT_EQ(Post("/jobs/j/pause", "", {{"Idempotency-Key", "k"}}).status, 422);
    EXPECT_EQ(Runs("j"), 1U);
}

TEST_F(FrameTest, KeysAreCheckedAndForgotten) {
    Make("j");
    for (const std::string& wrong : {std::string(), std::string(" "), std::string("a b"),
                                     std::string(256, 'x'), std::string("\xc3\xa4")}) {
        EXPECT_EQ(RunWith(wrong).status, 400) << wrong;
    }
    EXPECT_EQ(Post("/jobs/j/run", "", {{"Idempotency-Key", "a"}, {"Idempotency-Key", "a"}}).status,
              400);
    EXPECT_EQ(Runs("j"), 0U);
    ASSERT_EQ(RunWith("k").status, 202);
    clock_.Advance(hours(24) + minutes(1));
    ASSERT_EQ(RunWith("k", R"({"obeys_overlap":true})").status, 202) << "a day has passed";
    EXPECT_EQ(Runs("j"), 2U);
    for (int i = 0; i < 120; ++i) ASSERT_EQ(RunWith(fmt::format("n{}", i)).status, 202);
    clock_.Advance(hours(25));
    for (int i = 0; i < 120; ++i) ASSERT_EQ(RunWith(fmt::format("m{}", i)).status, 202);
    EXPECT_LT(KeysKept(), 130U) << "what has expired is deleted";
}

TEST_F(FrameTest, WhatChangedNothingLeavesTheKeyFree) {
    EXPECT_EQ(RunWith("k").status, 404);
    Make("j");
    EXPECT_EQ(RunWith("k", R"({"parameters":1})").status, 400);
    EXPECT_EQ(RunWith("k").status, 202);
}

// As if the server had been killed between the commit and its answer.
TEST_F(FrameTest, ATryThatWasCutOffIsFinishedUnderTheSameId) {
    Make("j");
    const Response first = RunWith("k");
    ASSERT_EQ(first.status, 202);
    auto page =
        store_->settings().List({.prefix = "api_v1/idempotency/", .limit = 1, .cursor = {}});
    auto cut = codec::StoredAnswerFromJson(page->items.at(0).body).value();
    cut.status = 0;
    cut.until = clock_.Now() + minutes(1);
    ASSERT_TRUE(store_->settings().Put({.key = page->items.at(0).key,
                                        .value = codec::StoredAnswerToJson(cut),
                                        .expected = {},
                                        .expires_at = clock_.Now() + hours(1)}));
    const Response busy = RunWith("k");
    EXPECT_EQ(busy.status, 409);
    EXPECT_EQ(HeaderOf(busy, "Retry-After"), "1");
    EXPECT_TRUE(Has(busy, "request_in_progress"));
    clock_.Advance(minutes(2));
    const Response finished = RunWith("k");
    EXPECT_EQ(finished.status, 202);
    EXPECT_EQ(TextOf(finished, "id"), TextOf(first, "id"));
    EXPECT_EQ(Runs("j"), 1U);
    EXPECT_EQ(HeaderOf(RunWith("k"), "Idempotency-Replayed"), "true");
}

TEST_F(FrameTest, AJobWithoutAnIdIsMadeOnce) {
    const std::string text = R"({"name":"n","http":{"url":"http://127.0.0.1/"},)"
                             R"("schedule":{"kind":"every","every":"1h"}})";
    const Response first = Post("/jobs", text, {{"Idempotency-Key", "k"}});
    ASSERT_EQ(first.status, 201) << first.body;
    const Response again = Post("/jobs", text, {{"Idempotency-Key", "k"}});
    EXPECT_EQ(again.status, 201);
    EXPECT_EQ(again.body, first.body);
    EXPECT_EQ(store_->jobs().Count({}, 10).value(), 1);
}

}  // namespace
}  // namespace ksana::api
