#include "ksana/engine/calendars/calendar_service.hpp"

#include <gtest/gtest.h>

#include "engine/service_fixture.hpp"
#include "ksana/codec/v1/definitions.hpp"
#include "ksana/engine/plan/planner.hpp"

namespace ksana::engine {
namespace {

using model::FireFate;
using schedule::Calendar;
using schedule::Date;
using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;

class CalendarServiceTest : public ServiceFixture {
  protected:
    static Calendar Excluding(std::vector<Date> dates) {
        Calendar calendar;
        for (const Date& date : dates) {
            schedule::CalendarRule rule;
            rule.dates = {date, date};
            calendar.exclude.push_back(rule);
        }
        return calendar;
    }

    Result<StoredCalendar> Put(const std::string& name, Calendar calendar) {
        return calendar_service_.Change(name,
                                        [&](const auto&) { return Result<Calendar>(calendar); });
    }

    // Returns a job that fires every day at noon.
    model::Job Daily(const std::string& id, const std::string& calendar) {
        model::Job job;
        job.id = id;
        job.name = id;
        job.action = model::HttpAction{.url = "http://127.0.0.1/"};
        job.schedule.kind = schedule::ScheduleKind::kCron;
        job.schedule.cron = "0 12 * * *";
        job.schedule.calendar = calendar;
        job.misfire.policy = model::MisfirePolicy::kRunAll;
        return job;
    }

    void Watch() {
        for (int n = 0; n < 3; ++n) ASSERT_TRUE(calendar_watch_.RunOnce());
    }

    std::optional<TimePoint> NextOf(const std::string& id) {
        return store_->jobs().Get(id)->state.next_run_at;
    }

    std::vector<model::LedgerEntry> Ledger(const std::string& id) {
        return store_->jobs().Ledger({.job_id = id, .from = {}, .until = {}, .limit = 100})->items;
    }

    Planner planner_{*store_, plans_, clock_, {.batch = 10}};
    const TimePoint start_ = clock_.Now();  // 2026-01-01, midnight
    const TimePoint noon_ = start_ + hours(12);
};

TEST_F(CalendarServiceTest, IsKeptByItsName) {
    const auto made = Put("c", Excluding({{2026, 1, 1}}));
    ASSERT_TRUE(made) << made.error().Describe();
    EXPECT_EQ(made->version, 1);
    EXPECT_EQ(made->calendar.name, "c");
    EXPECT_EQ(calendar_service_.Get("c")->calendar, made->calendar);
    EXPECT_EQ(calendars_.Rules("c"), made->calendar);
    ASSERT_TRUE(calendars_.Find("c"));
    EXPECT_FALSE(calendars_.Find("d"));
    EXPECT_EQ(Put("c", {})->version, 2);
    EXPECT_EQ(calendar_service_.Get("d").error().code, Code::kNotFound);
    EXPECT_EQ(calendar_service_.Get("no/name").error().code, Code::kNotFound);
    const auto bad = Put("bad name", {});
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().problems.at(0).path, "/name");
    EXPECT_FALSE(Put("e", Excluding({{2026, 2, 30}})));
    EXPECT_EQ(calendar_service_.List({})->items.size(), 1U);
}

TEST_F(CalendarServiceTest, AJobNamesOneThatIsThere) {
    const auto refused = service_.Create(Daily("j", "c"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().problems.at(0).path, "/schedule/calendar");
    ASSERT_TRUE(Put("c", {}));
    EXPECT_TRUE(service_.Create(Daily("j", "c")));
}

// K-22: the stored next fire follows the calendar, in both directions.
TEST_F(CalendarServiceTest, AChangeMovesTheNextFires) {
    ASSERT_TRUE(Put("c", {}));
    ASSERT_TRUE(service_.Create(Daily("j", "c")));
    ASSERT_TRUE(service_.Create(Daily("other", "")));
    EXPECT_EQ(NextOf("j"), noon_);
    ASSERT_TRUE(Put("c", Excluding({{2026, 1, 1}, {2026, 1, 2}})));
    Watch();
    EXPECT_EQ(NextOf("j"), noon_ + days(2));
    EXPECT_EQ(NextOf("other"), noon_);
    EXPECT_EQ(store_->jobs().Get("j")->state.version, 1) << "the definition is what it was";
    ASSERT_TRUE(Put("c", Excluding({{2026, 1, 1}})));
    Watch();
    EXPECT_EQ(NextOf("j"), noon_ + days(1));
    EXPECT_TRUE(Ledger("j").empty()) << "nothing has been due";
}

// K-22: an excluded fire is in the ledger according to the rules at its time.
TEST_F(CalendarServiceTest, WhatWasExcludedStaysExcluded) {
    ASSERT_TRUE(Put("c", Excluding({{2026, 1, 1}, {2026, 1, 2}, {2026, 1, 3}})));
    ASSERT_TRUE(service_.Create(Daily("j", "c")));
    EXPECT_EQ(NextOf("j"), noon_ + days(3));
    clock_.Advance(days(2));  // the third, midnight
    ASSERT_TRUE(Put("c", {}));
    Watch();
    ASSERT_EQ(Ledger("j").size(), 1U);
    EXPECT_EQ(Ledger("j")[0].range.fate, FireFate::kSkippedCalendar);
    EXPECT_EQ(Ledger("j")[0].range.range,
              (schedule::FireRange{.count = 2, .first = noon_, .last = noon_ + days(1)}));
    EXPECT_EQ(NextOf("j"), noon_ + days(2)) << "the third is not excluded any more";
    EXPECT_EQ(Runs("j"), 0U) << "nothing is made up for";
    clock_.Advance(hours(12));
    ASSERT_TRUE(planner_.RunOnce({}));
    EXPECT_EQ(Runs("j"), 1U);
    EXPECT_EQ(Ledger("j").size(), 1U);
}

TEST_F(CalendarServiceTest, WhatWasDueBeforeTheChangeIsRun) {
    ASSERT_TRUE(Put("c", {}));
    model::Job job = Daily("j", "c");
    job.schedule.cron = "* * * * *";
    ASSERT_TRUE(service_.Create(job));
    clock_.Advance(minutes(150));  // no planner ran; more fires than one call accounts for
    ASSERT_TRUE(Put("c", Excluding({{2026, 1, 1}})));
    Watch();
    store::RunQuery query;
    query.limit = store::kMaxPageSize;
    EXPECT_EQ(store_->runs().List(query)->items.size(), 101U)
        << "max_runs of its misfire policy, and the one that is on time";
    ASSERT_EQ(Ledger("j").size(), 1U);
    EXPECT_EQ(Ledger("j")[0].range.fate, FireFate::kMissed);
    EXPECT_EQ(Ledger("j")[0].range.range.count, 49);
    EXPECT_EQ(NextOf("j"), start_ + days(1));
}

TEST_F(CalendarServiceTest, APausedJobStaysPaused) {
    ASSERT_TRUE(Put("c", {}));
    ASSERT_TRUE(service_.Create(Daily("j", "c")));
    ASSERT_TRUE(service_.Pause("j", "x"));
    clock_.Advance(days(1));
    ASSERT_TRUE(Put("c", Excluding({{2026, 1, 2}})));
    Watch();
    EXPECT_EQ(NextOf("j"), std::nullopt);
    ASSERT_EQ(Ledger("j").size(), 1U);
    EXPECT_EQ(Ledger("j")[0].range.fate, FireFate::kSkippedPaused);
    ASSERT_TRUE(service_.Resume("j"));
    EXPECT_EQ(NextOf("j"), noon_ + days(2));
}

TEST_F(CalendarServiceTest, IsNotDeletedWhileJobsUseIt) {
    ASSERT_TRUE(Put("c", {}));
    for (const char* id : {"a", "b", "c", "d", "e", "f"})
        ASSERT_TRUE(service_.Create(Daily(id, "c")));
    const auto yes = [](const StoredCalendar&) { return Result<void>(); };
    const auto refused = calendar_service_.Delete("c", yes);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kConflict);
    EXPECT_EQ(refused.error().message, "calendar \"c\" is used by 6 jobs: a, b, c, d, e, …");
    for (const char* id : {"a", "b", "c", "d", "e", "f"}) ASSERT_TRUE(service_.Delete(id, {}));
    EXPECT_TRUE(calendar_service_.Delete("c", yes));
    EXPECT_FALSE(calendars_.Find("c"));
    EXPECT_EQ(calendar_service_.Delete("c", yes).error().code, Code::kNotFound);
}

// A change by another node, or a start after a crash between the commits of calendar and jobs.
TEST_F(CalendarServiceTest, WhatOthersHaveChangedIsNoticed) {
    ASSERT_TRUE(Put("c", {}));
    ASSERT_TRUE(service_.Create(Daily("j", "c")));
    Watch();
    Calendar changed = Excluding({{2026, 1, 1}});
    changed.name = "c";
    ASSERT_TRUE(store_->settings().Put(
        {.key = "calendar/c", .value = codec::CalendarToJson(changed), .expected = 1}));
    Watch();
    EXPECT_EQ(NextOf("j"), noon_) << "nobody has told";
    calendar_watch_.Hint();
    clock_.Advance(std::chrono::seconds(1));
    Watch();
    EXPECT_EQ(NextOf("j"), noon_ + days(1));
    CalendarCache fresh_book(*store_);
    ScheduleCache fresh_schedules(zones_, [&](auto name) { return fresh_book.Find(name); });
    FirePlans fresh_plans(fresh_schedules, {}, {.defaults = {}, .max_fires = 100});
    CalendarWatch fresh(*store_, fresh_book, fresh_schedules, fresh_plans, clock_, {});
    ASSERT_TRUE(store_->jobs().PlanJobs({.now = {}, .ids = {"j"}}, [&](const auto&, TimePoint now) {
        return store::JobPlan{.planned_until = now, .next_run_at = noon_ + days(9)};
    }));
    ASSERT_TRUE(fresh.RunOnce());
    EXPECT_EQ(NextOf("j"), noon_ + days(1)) << "after a start all are looked at";
}

// The job is compiled with the old rules and stored after the calendar change looked for its users.
TEST_F(CalendarServiceTest, AJobThatIsMadeDuringAChangeFollowsIt) {
    ASSERT_TRUE(Put("c", {}));
    int asked = 0;
    const auto find = [&](std::string_view name) {
        const auto found = calendars_.Find(name);
        if (++asked == 3) {  // the compilation that the plan is made with
            EXPECT_TRUE(Put("c", Excluding({{2026, 1, 1}})));
            Watch();
        }
        return found;
    };
    JobService slow(*store_, plans_, zones_, find, ids_);
    const auto made = slow.Create(Daily("j", "c"));
    ASSERT_TRUE(made) << made.error().Describe();
    EXPECT_EQ(asked, 4);
    EXPECT_EQ(made->state.next_run_at, noon_ + days(1));
    EXPECT_EQ(NextOf("j"), noon_ + days(1));
    EXPECT_EQ(made->state.version, 1);
}

TEST_F(CalendarServiceTest, OneThatCannotBeReadIsNotThere) {
    ASSERT_TRUE(store_->settings().Put({.key = "calendar/bad", .value = "{}", .expected = 0}));
    ASSERT_TRUE(calendar_watch_.Refresh());
    EXPECT_FALSE(calendars_.Find("bad"));
    EXPECT_FALSE(calendars_.Rules("bad"));
    EXPECT_FALSE(service_.Create(Daily("j", "bad")));
}

TEST_F(CalendarServiceTest, ManyJobsAreLookedAtPageByPage) {
    ASSERT_TRUE(Put("c", {}));
    const std::size_t many = store::kMaxPageSize + 10;
    for (std::size_t n = 0; n < many; ++n) {
        ASSERT_TRUE(service_.Create(Daily("j" + std::to_string(n), "c")));
    }
    ASSERT_TRUE(Put("c", Excluding({{2026, 1, 1}})));
    Watch();
    store::JobQuery query;
    query.limit = store::kMaxPageSize;
    query.sort = store::JobSort::kNextRun;
    EXPECT_EQ(store_->jobs().List(query)->items[0].state.next_run_at, noon_ + days(1));
}

}  // namespace
}  // namespace ksana::engine
