#include <gtest/gtest.h>

#include "api_v1/v1_fixture.hpp"
#include "ksana/base/time/time_text.hpp"

namespace ksana::api {
namespace {

class BackfillRoutesTest : public V1Fixture {
  protected:
    BackfillRoutesTest() {
        const Response made =
            Post("/jobs", R"({"id":"j","name":"j","http":{"url":"http://127.0.0.1/"},)"
                          R"("schedule":{"kind":"cron","cron":"0 * * * *"}})");
        EXPECT_EQ(made.status, 201) << made.body;
    }
    std::string Body(int hours, const std::string& more = "") {
        const TimePoint to = std::chrono::floor<std::chrono::hours>(clock_.Now());
        return fmt::format(R"({{"from":"{}","to":"{}"{}}})",
                           FormatTime(to - std::chrono::hours(hours)), FormatTime(to), more);
    }
};

TEST_F(BackfillRoutesTest, IsADryRunUnlessSomebodySaysOtherwise) {
    const Response answer = Post("/jobs/j/backfill", Body(200));
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_TRUE(Has(answer, R"("dry_run":true,"job_id":"j")"));
    EXPECT_TRUE(Has(answer, R"("count":200,"already_there":0)"));
    EXPECT_TRUE(Has(answer, R"("truncated":true)"));
    EXPECT_TRUE(Has(Get("/backfills"), R"("items":[])"));
    EXPECT_TRUE(Has(Post("/jobs/j/backfill", Body(3)), R"("truncated":false)"));
}

TEST_F(BackfillRoutesTest, BeginsIsShownAndCancelled) {
    const Response made =
        Post("/jobs/j/backfill", Body(5, R"(,"dry_run":false,"overlap":"allow")"));
    ASSERT_EQ(made.status, 202) << made.body;
    const std::string id = TextOf(made, "id");
    EXPECT_EQ(api::HeaderOf(made, "Location"), "/api/v1/backfills/" + id);
    EXPECT_TRUE(Has(made, R"("state":"running")"));
    EXPECT_TRUE(Has(made, R"("created_by":"me")"));
    EXPECT_EQ(Get("/backfills/" + id).body, made.body);
    EXPECT_EQ(IdsOf(Get("/backfills")), std::vector<std::string>{id});
    const Response cancelled = Post("/backfills/" + id + "/cancel");
    EXPECT_EQ(cancelled.status, 200);
    EXPECT_TRUE(Has(cancelled, R"("state":"cancelled")"));
    EXPECT_TRUE(Has(cancelled, R"("ended_at":")"));
    EXPECT_EQ(Get("/backfills/none").status, 404);
    EXPECT_EQ(Post("/backfills/" + ids_.Next().ToString() + "/cancel").status, 404);
}

TEST_F(BackfillRoutesTest, AKeyMakesOne) {
    const std::string body = Body(5, R"(,"dry_run":false)");
    const Response first = Post("/jobs/j/backfill", body, {{"Idempotency-Key", "k"}});
    const Response again = Post("/jobs/j/backfill", body, {{"Idempotency-Key", "k"}});
    EXPECT_EQ(first.body, again.body);
    EXPECT_EQ(IdsOf(Get("/backfills")).size(), 1U);
}

TEST_F(BackfillRoutesTest, FaultsAreNamed) {
    const auto refused = [&](const std::string& body, const std::string& part) {
        const Response answer = Post("/jobs/j/backfill", body);
        EXPECT_EQ(answer.status, 400) << body;
        EXPECT_TRUE(Has(answer, part)) << answer.body;
    };
    refused("", "");
    refused("{}", R"("pointer":"/from")");
    refused("{}", R"("pointer":"/to")");
    refused(Body(5, R"(,"dryrun":false)"), "dry_run");
    refused(Body(5, R"(,"per_minute":0)"), R"("pointer":"/per_minute")");
    refused(Body(5, R"(,"max":4)"), "there are 5 fires");
    refused(Body(5, R"(,"overlap":"skip")"), R"("pointer":"/overlap")");
    refused(Body(5, R"(,"parameters":[1])"), R"("pointer":"/parameters")");
    refused(Body(-5), R"("pointer":"/to")");
    refused(Body(20'000), "there are 20000 fires");
    EXPECT_EQ(Post("/jobs/none/backfill", Body(5)).status, 404);
    EXPECT_TRUE(Has(Get("/backfills"), R"("items":[])"));
}

}  // namespace
}  // namespace ksana::api
