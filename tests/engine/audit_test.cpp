#include "engine/service_fixture.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/engine/retention/retention.hpp"
#include "ksana/engine/services/run_service.hpp"

// Every action of a user is stored with its actor (G-11).

namespace ksana::engine {
namespace {

using model::AuditEvent;

class AuditTest : public ServiceFixture {
  protected:
    static model::Job MakeJob(const std::string& id) {
        model::Job job;
        job.id = id;
        job.name = "n " + id;
        job.action = model::HttpAction{.url = "http://127.0.0.1/"};
        job.schedule.kind = schedule::ScheduleKind::kEvery;
        job.schedule.every = std::chrono::minutes(5);
        return job;
    }
    // Returns the newest audit event.
    AuditEvent Last() {
        const auto page = store_->events().List({});
        EXPECT_FALSE(page->items.empty());
        return page->items.empty() ? AuditEvent{} : page->items.front();
    }
    std::size_t Count() { return store_->events().List({})->items.size(); }
    void Expect(const std::string& action, const std::string& type, const std::string& id) {
        const AuditEvent event = Last();
        EXPECT_EQ(event.action, action);
        EXPECT_EQ(event.resource_type, type);
        EXPECT_EQ(event.resource_id, id);
        EXPECT_EQ(event.user, "ada");
        EXPECT_EQ(event.client_ip, "10.1.2.3");
        EXPECT_EQ(event.method, "POST /x");
        EXPECT_EQ(event.at, clock_.Now());
        EXPECT_NE(event.data.find(R"("request_id":"r7")"), std::string::npos) << event.data;
    }
    bool LastSays(const std::string& part) { return Last().data.find(part) != std::string::npos; }

    const Actor by_{
        .user = "ada", .client_ip = "10.1.2.3", .method = "POST /x", .request_id = "r7"};
    RunService runs_{*store_, ids_};
};

TEST_F(AuditTest, OfJobs) {
    ASSERT_TRUE(service_.Create(MakeJob("j"), by_));
    Expect("created", "job", "j");
    ASSERT_TRUE(service_.Pause("j", "the target moves", by_));
    Expect("paused", "job", "j");
    EXPECT_TRUE(LastSays(R"("reason":"the target moves")")) << Last().data;
    ASSERT_TRUE(service_.Resume("j", by_));
    Expect("resumed", "job", "j");
    EXPECT_FALSE(LastSays(R"("reason":)"));
    const auto change = [](model::Job& job) -> Result<void> {
        job.owner = "bob";
        job.schedule.every = std::chrono::minutes(7);
        return {};
    };
    ASSERT_TRUE(service_.Change("j", {}, change, by_));
    Expect("changed", "job", "j");
    EXPECT_TRUE(LastSays(R"("changed":["owner","schedule"])")) << Last().data;
    const auto run = service_.RunNow({.id = "j", .parameters = "", .run_id = {}}, by_);
    ASSERT_TRUE(run);
    Expect("run_now", "job", "j");
    EXPECT_TRUE(LastSays(run->id.ToString()));
    ASSERT_TRUE(service_.Delete("j", {}, by_));
    Expect("deleted", "job", "j");
    EXPECT_EQ(Count(), 6U);
}

TEST_F(AuditTest, AnEditThatDisablesIsAPause) {
    ASSERT_TRUE(service_.Create(MakeJob("j"), by_));
    const auto disable = [](model::Job& job) -> Result<void> {
        job.enabled = false;
        return {};
    };
    ASSERT_TRUE(service_.Change("j", {}, disable, by_));
    Expect("paused", "job", "j");
    ASSERT_TRUE(service_.Pause("j", "another reason", by_));
    Expect("changed", "job", "j");
}

TEST_F(AuditTest, WhatFailsLeavesNone) {
    ASSERT_TRUE(service_.Create(MakeJob("j"), by_));
    EXPECT_FALSE(service_.Create(MakeJob("j"), by_));
    EXPECT_FALSE(service_.Pause("none", "", by_));
    EXPECT_FALSE(service_.Delete("j", 7, by_));
    EXPECT_FALSE(service_.Delete("none", {}, by_));
    EXPECT_FALSE(runs_.Cancel(ids_.Next(), by_));
    EXPECT_EQ(Count(), 1U);
}

TEST_F(AuditTest, OfRuns) {
    ASSERT_TRUE(service_.Create(MakeJob("j"), by_));
    const auto run = service_.RunNow({.id = "j", .parameters = "", .run_id = {}}, by_);
    const std::string id = run->id.ToString();
    EXPECT_EQ(runs_.Delete(run->id, by_).error().code, Code::kConflict);
    ASSERT_TRUE(runs_.Cancel(run->id, by_));
    Expect("cancelled", "run", id);
    EXPECT_TRUE(LastSays(R"("job_id":"j")"));
    ASSERT_TRUE(runs_.Cancel(run->id, by_)) << "again";
    EXPECT_EQ(Count(), 3U);
    const auto again = runs_.Retry(run->id, {}, by_);
    ASSERT_TRUE(again);
    Expect("retried", "run", id);
    EXPECT_TRUE(LastSays(again->id.ToString()));
    ASSERT_TRUE(runs_.Delete(run->id, by_));
    Expect("deleted", "run", id);
    EXPECT_EQ(store_->runs().Get(run->id).error().code, Code::kNotFound);
}

TEST_F(AuditTest, LongAndUglyTextsDoNotStandInTheWay) {
    ASSERT_TRUE(service_.Create(MakeJob("j"), {.user = std::string(100'000, 'u'),
                                               .client_ip = "\xff\n",
                                               .method = "GET /" + std::string(20'000, 'x')}));
    EXPECT_LT(Last().user.size(), 2'000U);
}

TEST_F(AuditTest, RetentionTakesOldEventsAndWhatHasExpired) {
    ASSERT_TRUE(service_.Create(MakeJob("j"), by_));
    ASSERT_TRUE(store_->settings().Put({.key = "k",
                                        .value = "1",
                                        .expected = {},
                                        .expires_at = clock_.Now() + std::chrono::hours(1)}));
    Retention retention(*store_, locks_, clock_,
                        {.keep = Duration::zero(), .keep_events = std::chrono::hours(24)});
    EXPECT_EQ(retention.RunOnce()->events, 0U);
    clock_.Advance(std::chrono::hours(25));
    const auto answer = retention.RunOnce();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->events, 1U);
    EXPECT_EQ(answer->documents, 1U);
    EXPECT_EQ(Count(), 0U);
}

}  // namespace
}  // namespace ksana::engine
