#include <gtest/gtest.h>

#include "api_v1/v1_fixture.hpp"
#include "ksana/engine/plan/planner.hpp"

namespace ksana::api {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

class InsightRoutesTest : public V1Fixture {
  protected:
    // Plans after `later`. Jobs fire every five minutes from midnight, where the clock starts.
    void Plan(Duration later) {
        clock_.Advance(later);
        ASSERT_TRUE(planner_.RunOnce({}));
    }

    engine::Planner planner_{*store_, plans_, clock_, {.batch = 10}};
};

TEST_F(InsightRoutesTest, ExplainTellsWhatBecameOfAFire) {
    Make("j");
    Plan(minutes(5));
    const Response waiting = Get("/jobs/j/explain?at=2026-01-01T00:05:00Z");
    ASSERT_EQ(waiting.status, 200) << waiting.body;
    EXPECT_TRUE(Has(waiting, R"("verdict":"waiting")")) << waiting.body;
    EXPECT_TRUE(Has(waiting, R"("reason":"unclaimed")")) << waiting.body;
    const Response last = Get("/jobs/j/explain");
    EXPECT_EQ(last.body.substr(last.body.find("\"verdict\"")),
              waiting.body.substr(waiting.body.find("\"verdict\"")))
        << "the last fire is the same";
    EXPECT_TRUE(Has(Get("/jobs/j/explain?at=2026-01-01T00:07:00Z"), R"("verdict":"not_a_fire")"));
    EXPECT_TRUE(
        Has(Get("/jobs/j/explain?at=2026-01-01T00:07:00Z&tolerance=3m"), R"("snapped":true)"));
    EXPECT_TRUE(Has(Get("/jobs/j/explain?at=2026-01-01T00:10:00Z"), R"("verdict":"will_run")"));
}

// The grid of `every` begins when the job is created; the first fire is one step later.
TEST_F(InsightRoutesTest, TheMomentAJobWasMadeIsNoFire) {
    Make("j");
    clock_.Advance(minutes(1));
    const Response made = Get("/jobs/j/explain?at=2026-01-01T00:00:00Z");
    EXPECT_TRUE(Has(made, R"("reason":"before_created")")) << made.body;
    const Response last = Get("/jobs/j/explain");
    EXPECT_TRUE(Has(last, R"("verdict":"not_a_fire")")) << last.body;
    EXPECT_FALSE(Has(last, "purged")) << last.body;
}

TEST_F(InsightRoutesTest, ExplainKnowsTheNode) {
    Make("j");
    Plan(minutes(5));
    node_view_.busy = 4;
    EXPECT_TRUE(Has(Get("/jobs/j/explain"), R"("reason":"no_slot")"));
    node_view_ = {.slots = 4, .busy = 1, .starts_held_back = true};
    clock_.Advance(minutes(1));
    EXPECT_TRUE(Has(Get("/jobs/j/explain"), R"("reason":"start_rate")"));
}

TEST_F(InsightRoutesTest, ExplainAnswersBadQuestions) {
    EXPECT_EQ(Get("/jobs/none/explain").status, 404);
    EXPECT_EQ(Get("/jobs/none/explain?at=2026-01-01T00:07:00Z").status, 404);
    Make("j");
    EXPECT_TRUE(Has(Get("/jobs/j/explain?at=soon"), R"("pointer":"/query/at")"));
    EXPECT_TRUE(Has(Get("/jobs/j/explain?at=9999-12-31T23:00:00Z"), R"("pointer":"/query/at")"));
    EXPECT_TRUE(Has(Get("/jobs/j/explain?tolerance=25h"), R"("pointer":"/query/tolerance")"));
    EXPECT_TRUE(Has(Get("/jobs/j/explain?tolerance=-1s"), R"("pointer":"/query/tolerance")"));
    EXPECT_EQ(Get("/jobs/j/explain").status, 200) << "before its first fire";
}

TEST_F(InsightRoutesTest, PreviewShowsWhatIsNotSaved) {
    Make("j");
    const Response shown = Post("/preview", R"({"schedule":{"kind":"cron","cron":"*/10 * * * *"},)"
                                            R"("from":"2026-01-01T00:00:00Z","count":2})");
    ASSERT_EQ(shown.status, 200) << shown.body;
    EXPECT_TRUE(Has(shown, R"("words":"Every 10 minutes)")) << shown.body;
    EXPECT_TRUE(Has(shown, R"("at":"2026-01-01T00:10:00Z")")) << shown.body;
    EXPECT_TRUE(Has(shown, R"("same_minute":1)")) << shown.body;
    EXPECT_TRUE(Has(shown, R"("compared_jobs":1)"));
}

TEST_F(InsightRoutesTest, PreviewGoesOnInTheGridOfAStoredJob) {
    Make("j");
    clock_.Advance(minutes(7));
    const std::string wish = R"({"schedule":{"kind":"every","every":"5m"},"count":1)";
    EXPECT_TRUE(Has(Post("/preview", wish + "}"), R"("at":"2026-01-01T00:12:00Z")"));
    EXPECT_TRUE(
        Has(Post("/preview", wish + R"(,"job_id":"j"})"), R"("at":"2026-01-01T00:10:00Z")"));
}

TEST_F(InsightRoutesTest, PreviewNamesEveryFault) {
    const auto fault = [this](const std::string& body, const std::string& pointer) {
        const Response answer = Post("/preview", body);
        EXPECT_EQ(answer.status, 400) << body << answer.body;
        EXPECT_TRUE(Has(answer, "\"pointer\":\"" + pointer + "\"")) << answer.body;
    };
    fault("{}", "/schedule");
    fault(R"({"schedule":{"kind":"cron","cron":"0 75 * * *"}})", "/schedule/cron");
    fault(R"({"schedule":{"kind":"cron","cron":"* * * * *","calendar":"no"}})",
          "/schedule/calendar");
    fault(R"({"schedule":{"kind":"every","every":"1h"},"count":101})", "/count");
    fault(R"({"schedule":{"kind":"every","every":"1h"},"cuont":1})", "/cuont");
    fault(R"({"schedule":{"kind":"every","every":"1h"},"from":"9999-01-01T00:00:00Z"})", "/from");
}

TEST_F(InsightRoutesTest, SimulateRunsStoredAndChangedJobs) {
    Make("j");
    Make("k");
    const std::string day = R"({"from":"2026-01-02T00:00:00Z","to":"2026-01-03T00:00:00Z")";
    const Response stored = Post("/simulate", day + "}");
    ASSERT_EQ(stored.status, 200) << stored.body;
    EXPECT_TRUE(Has(stored, R"("jobs":2)"));
    EXPECT_TRUE(Has(stored, R"("totals":{"fires":576)")) << stored.body;
    const Response changed = Post("/simulate", day + R"(,"without":["k"],"slots":1,"changes":[)" +
                                                   JobText("j", R"(,"overlap":"queue_all")") +
                                                   R"(],"durations":{"j":"10m"}})");
    ASSERT_EQ(changed.status, 200) << changed.body;
    EXPECT_TRUE(Has(changed, R"("jobs":1)"));
    EXPECT_TRUE(Has(changed, R"("duration":"10m")")) << changed.body;
    EXPECT_TRUE(Has(Post("/simulate", day + R"(,"stored":false})"), R"("jobs":0)"));
    EXPECT_TRUE(Has(Get("/jobs"), R"("overlap":"skip")")) << "nothing was stored";
}

TEST_F(InsightRoutesTest, SimulateNamesEveryFault) {
    const auto fault = [this](const std::string& body, const std::string& pointer) {
        const Response answer = Post("/simulate", body);
        EXPECT_EQ(answer.status, 400) << body << answer.body;
        EXPECT_TRUE(Has(answer, "\"pointer\":\"" + pointer + "\"")) << answer.body;
    };
    const std::string day = R"({"from":"2026-01-02T00:00:00Z","to":"2026-01-03T00:00:00Z")";
    fault("{}", "/from");
    fault(R"({"from":"2026-01-02T00:00:00Z","to":"2026-01-01T00:00:00Z"})", "/to");
    fault(R"({"from":"2026-01-02T00:00:00Z","to":"2028-01-01T00:00:00Z"})", "/to");
    fault(day + R"(,"slots":0})", "/slots");
    fault(day + R"(,"durations":{"j":"-1s"}})", "/durations/j");
    fault(day + R"(,"default_duration":"9600h1s"})", "/default_duration");
    fault(day + R"(,"changes":[{"id":"x"}]})", "/changes/0/name");
    fault(day + R"(,"changes":[)" + JobText("", "") + "]}", "/changes/0/id");
    fault(day + R"(,"changes":[)" + JobText("a") + "," + JobText("a") + "]}", "/changes/1/id");
    fault(day + R"(,"changes":[)" + JobText("a", R"(,"priority":99)") + "]}",
          "/changes/0/priority");
}

TEST_F(InsightRoutesTest, SimulateRefusesWhatWouldTakeTooLong) {
    std::string changes;
    for (int n = 0; n < 10; ++n) {
        std::string job = JobText("j" + std::to_string(n));
        job.replace(job.find("\"5m\""), 4, "\"1s\"");
        changes += (n == 0 ? "" : ",") + job;
    }
    const Response answer =
        Post("/simulate", R"({"from":"2026-01-01T00:00:00Z","to":"2027-01-01T00:00:00Z",)"
                          R"("changes":[)" +
                              changes + "]}");
    EXPECT_EQ(answer.status, 400);
    EXPECT_TRUE(Has(answer, "more than 50000000 fires")) << answer.body;
}

}  // namespace
}  // namespace ksana::api
