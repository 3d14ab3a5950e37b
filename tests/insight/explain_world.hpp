#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "conformance/store_fixture.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/engine/plan/fire_plans.hpp"
#include "ksana/engine/plan/schedule_cache.hpp"
#include "ksana/insight/explain/explain.hpp"
#include "ksana/schedule/zone/zone_database.hpp"

namespace ksana::insight {

inline TimePoint At(const std::string& text) { return ParseTime(text).value(); }

// Jobs in a store that a test plans and runs at chosen times, and questions about them. Does at
// `now` what engine::JobService and Planner do by the store's clock, because the clock of a
// database cannot be set.
class ExplainWorld {
  public:
    ExplainWorld(store::Store& store, TimePoint begin) : now(begin), store_(store) {}

    TimePoint now;

    store::Store& store() { return store_; }
    Sources sources() {
        return {.store = store_,
                .schedules = book_,
                .zones = zones_,
                .find_calendar = FindCalendar(),
                .find_rules = [this](std::string_view name) { return Rules(name); }};
    }

    void AddCalendar(const schedule::Calendar& calendar) {
        calendars_[calendar.name] = calendar;
        book_.Forget();
    }

    static model::Job CronJob(const std::string& cron, const std::string& zone = "UTC") {
        model::Job job = AnyJob();
        job.schedule.kind = schedule::ScheduleKind::kCron;
        job.schedule.cron = cron;
        job.schedule.zone = zone;
        return job;
    }
    static model::Job EveryJob(Duration every) {
        model::Job job = AnyJob();
        job.schedule.kind = schedule::ScheduleKind::kEvery;
        job.schedule.every = every;
        return job;
    }

    // Creates the job now: earlier fires are not planned.
    void Create(model::Job job) {
        job.state.created_at = now;
        job.state.planned_until = now;
        if (job.schedule.kind == schedule::ScheduleKind::kOnce) {
            job.state.planned_until = std::min(now, job.schedule.run_at - Duration(1));
        }
        job.state.next_run_at = Compile(job).Next(*job.state.planned_until);
        Write({.job = job, .mode = store::WriteMode::kCreate, .expected_version = {}, .plan = {}});
    }
    // Changes the job. Fires due before are planned by its old definition.
    void Change(const std::function<void(model::Job&)>& edit) {
        const model::Job before = Get();
        model::Job after = before;
        edit(after);
        store::JobPlan plan = plans_.Plan(before, now);
        plan.planned_until = std::max(plan.planned_until, now);
        plan.next_run_at.reset();
        if (after.enabled) plan.next_run_at = Compile(after).Next(plan.planned_until);
        Write({.job = after,
               .mode = store::WriteMode::kReplace,
               .expected_version = {},
               .plan = std::move(plan)});
    }
    void Pause(const std::string& reason) {
        Change([&](model::Job& job) {
            job.enabled = false;
            job.paused_reason = reason;
        });
    }
    void Resume() {
        Change([](model::Job& job) {
            job.enabled = true;
            job.paused_reason.clear();
        });
    }
    model::Job Get() {
        auto job = store_.jobs().Get("j");
        EXPECT_TRUE(job);
        return job.value();
    }

    // Turns everything due by now into runs and ledger entries.
    void Plan(std::optional<store::StartAs> start = {}) {
        for (bool more = true; more;) {
            auto planned = store_.jobs().PlanDue(
                {.now = now, .look_ahead = {}, .limit = 100, .start = start},
                [this](const model::Job& job, TimePoint at) { return plans_.Plan(job, at); });
            ASSERT_TRUE(planned) << planned.error().Describe();
            more = planned->jobs > 0;
        }
    }
    std::vector<model::Run> Claim() {
        auto claimed = store_.runs().Claim(
            {.filter = {.kind = model::ActionKind::kHttp}, .owner = "node-1", .limit = 100}, now);
        EXPECT_TRUE(claimed);
        return claimed->runs;
    }
    void Report(const model::Run& run, model::EventKind kind, const std::string& error = "") {
        Apply(run.id, {.kind = kind, .exec_id = run.status.exec_id, .error = error});
    }
    void Apply(const Uuid& id, model::Event event) {
        auto applied = store_.runs().Apply({{id, std::move(event)}}, now);
        ASSERT_TRUE(applied);
        ASSERT_EQ(applied->at(0).verdict, model::EventVerdict::kApplied) << applied->at(0).reason;
    }
    // Plans, claims and, `took` later, reports success for every claimed run.
    void RunAll(Duration took = {}) {
        Plan();
        const auto runs = Claim();
        now += took;
        for (const model::Run& run : runs) Report(run, model::EventKind::kSuccess);
    }

    Explanation Ask(const std::string& at, const std::function<void(ExplainParams&)>& edit = {}) {
        return Ask(At(at), edit);
    }
    Explanation Ask(TimePoint at, const std::function<void(ExplainParams&)>& edit = {}) {
        ExplainParams params;
        params.job_id = "j";
        params.at = at;
        params.now = now;
        if (edit) edit(params);
        auto explanation = Explain(sources(), params);
        EXPECT_TRUE(explanation) << explanation.error().Describe();
        if (!explanation) return {};
        EXPECT_TRUE(explanation->text.ends_with(".")) << explanation->text;
        return *std::move(explanation);
    }

    schedule::Schedule Compile(const model::Job& job) {
        auto compiled = schedule::Schedule::Compile(job.schedule,
                                                    {zones_, job.state.created_at, FindCalendar()});
        EXPECT_TRUE(compiled) << compiled.error().Describe();
        return *std::move(compiled);
    }

  private:
    static model::Job AnyJob() {
        model::Job job;
        job.id = "j";
        job.name = "job";
        job.action = model::HttpAction{.url = "http://127.0.0.1/"};
        return job;
    }
    void Write(store::JobWrite write) {
        auto written = store_.jobs().Write({.now = now, .writes = {std::move(write)}});
        ASSERT_TRUE(written) << written.error().Describe();
        ASSERT_TRUE(written->at(0)) << written->at(0).error().Describe();
    }
    std::optional<schedule::Calendar> Rules(std::string_view name) {
        const auto found = calendars_.find(name);
        return found == calendars_.end() ? std::nullopt : std::optional(found->second);
    }
    engine::FindCalendar FindCalendar() {
        return [this](std::string_view name) -> std::shared_ptr<const schedule::CalendarIndex> {
            const auto rules = Rules(name);
            return rules ? std::make_shared<const schedule::CalendarIndex>(*rules) : nullptr;
        };
    }

    store::Store& store_;
    schedule::ZoneDatabase zones_;
    std::map<std::string, schedule::Calendar, std::less<>> calendars_;
    engine::ScheduleCache book_{zones_, FindCalendar()};
    engine::FirePlans plans_{book_, {}, {.defaults = {}, .max_fires = 100}};
};

}  // namespace ksana::insight

// For the messages of a failed EXPECT_EQ.
namespace ksana::insight {
inline void PrintTo(Verdict verdict, std::ostream* out) { *out << model::NameOf(verdict); }
inline void PrintTo(Reason reason, std::ostream* out) { *out << model::NameOf(reason); }
}  // namespace ksana::insight
