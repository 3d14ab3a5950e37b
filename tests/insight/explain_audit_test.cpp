#include <gtest/gtest.h>

#include "engine/service_fixture.hpp"
#include "ksana/engine/services/run_service.hpp"
#include "ksana/insight/explain/explain.hpp"

// Actions of users through the services, as explanations show them: who, when and why.

namespace ksana::insight {
namespace {

using engine::Actor;
using std::chrono::hours;
using std::chrono::minutes;

class ExplainAuditTest : public engine::ServiceFixture {
  protected:
    ExplainAuditTest() {
        model::Job job;
        job.id = "j";
        job.name = "j";
        job.action = model::HttpAction{.url = "http://127.0.0.1/"};
        job.schedule.kind = schedule::ScheduleKind::kCron;
        job.schedule.cron = "0 * * * *";
        EXPECT_TRUE(service_.Create(job, {.user = "maker"}));
    }

    TimePoint NextFire() const { return std::chrono::floor<hours>(clock_.Now()) + hours(1); }
    Explanation Ask(TimePoint at) {
        const auto answer = Explain({.store = *store_,
                                     .schedules = book_,
                                     .zones = zones_,
                                     .find_calendar = {},
                                     .find_rules = {}},
                                    {.job_id = "j", .at = at});
        EXPECT_TRUE(answer) << answer.error().Describe();
        return answer ? *answer : Explanation{};
    }
    // Returns the run that the planner makes for the fire that is due now.
    model::Run Plan() {
        EXPECT_TRUE(store_->jobs().PlanDue(
            {}, [&](const model::Job& job, TimePoint now) { return plans_.Plan(job, now); }));
        store::RunQuery query;
        query.filter.job_id = "j";
        query.limit = 1;
        const auto page = store_->runs().List(query);
        EXPECT_FALSE(page->items.empty());
        return page->items.empty() ? model::Run{} : page->items.front();
    }

    engine::RunService runs_{*store_, ids_};
};

TEST_F(ExplainAuditTest, PausedByWhom) {
    const TimePoint fire = NextFire();
    ASSERT_TRUE(service_.Pause("j", "the target moves", {.user = "ada"}));
    const TimePoint paused_at = clock_.Now();
    clock_.Advance(hours(2));
    const auto expect_ada = [&] {
        const Explanation why = Ask(fire);
        EXPECT_EQ(why.verdict, Verdict::kSkippedPaused);
        ASSERT_TRUE(why.actor);
        EXPECT_EQ(why.actor->user, "ada");
        EXPECT_EQ(why.actor->reason, "the target moves");
        EXPECT_EQ(why.actor->at, paused_at);
    };
    expect_ada();
    ASSERT_TRUE(service_.Resume("j", {.user = "bob"}));
    expect_ada();
    clock_.Advance(minutes(1));
    ASSERT_TRUE(service_.Pause("j", "later", {.user = "eve"}));
    expect_ada();
}

TEST_F(ExplainAuditTest, CancelledByWhom) {
    const TimePoint fire = NextFire();
    clock_.Advance(fire - clock_.Now());
    ASSERT_TRUE(runs_.Cancel(Plan().id, {.user = "bob"}));
    const Explanation why = Ask(fire);
    EXPECT_EQ(why.verdict, Verdict::kCancelled);
    ASSERT_TRUE(why.actor);
    EXPECT_EQ(why.actor->user, "bob");
}

TEST_F(ExplainAuditTest, DeletedByWhom) {
    const TimePoint fire = NextFire();
    clock_.Advance(fire - clock_.Now());
    const model::Run run = Plan();
    ASSERT_TRUE(runs_.Cancel(run.id, {.user = "bob"}));
    clock_.Advance(minutes(1));
    ASSERT_TRUE(runs_.Delete(run.id, {.user = "eve"}));
    const Explanation why = Ask(fire);
    EXPECT_EQ(why.verdict, Verdict::kPurged);
    EXPECT_EQ(why.reason, Reason::kDeleted);
    ASSERT_TRUE(why.actor);
    EXPECT_EQ(why.actor->user, "eve");
    ASSERT_TRUE(why.ledger);
    EXPECT_EQ(why.ledger->fate, model::FireFate::kDeleted);
}

TEST_F(ExplainAuditTest, AJobThatSomebodyDeleted) {
    const TimePoint fire = NextFire();
    ASSERT_TRUE(service_.Delete("j", {}, {.user = "eve"}));
    clock_.Advance(hours(2));
    const Explanation why = Ask(fire);
    EXPECT_EQ(why.verdict, Verdict::kUnknownJob);
    ASSERT_TRUE(why.actor);
    EXPECT_EQ(why.actor->user, "eve");
}

}  // namespace
}  // namespace ksana::insight
