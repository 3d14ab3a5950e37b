#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/fake_clock.hpp"
#include "ksana/store/store.hpp"

namespace ksana::conformance {

// A driver under test. Created anew, with an empty store, for every test, which owns it. The test's
// thread calls it.
class StoreHarness {
  public:
    virtual ~StoreHarness() = default;

    virtual store::Store& store() = 0;
    // Closes the store and opens it again on the same data. Returns false if the driver keeps
    // nothing (memory).
    virtual bool Reopen() = 0;
    // Returns whether searches respect the bound `look` of a query.
    virtual bool EndsEarly() const { return false; }
};

struct StoreFactory {
    std::string name;
    std::function<std::unique_ptr<StoreHarness>()> make;
    friend std::ostream& operator<<(std::ostream& out, const StoreFactory& factory) {
        return out << factory.name;
    }
};

// The conformance suite. Every test runs against every driver: tests are TEST_P, and a driver
// instantiates them with one INSTANTIATE_TEST_SUITE_P(Sqlite, StoreTest, testing::Values(factory)).
class StoreTest : public ::testing::TestWithParam<StoreFactory> {
  protected:
    using Run = model::Run;  // not the member of testing::Test

    void SetUp() override {
        harness_ = GetParam().make();
        ASSERT_TRUE(harness_);
    }

    store::Store& store() { return harness_->store(); }
    store::RunStore& runs() { return store().runs(); }
    store::JobStore& jobs() { return store().jobs(); }

    // The time of all calls, unless a test is about the store's own clock.
    TimePoint now_ = FakeClock::DefaultStart();

    Run MakeRun(const std::string& type = "mail") {
        Run run;
        run.id = ids_.Next();
        run.type = type;
        run.payload = R"({"n":1})";
        run.status.ready_at = now_;
        run.policy.retry.max_retries = 2;
        run.policy.retry.interval = std::chrono::seconds(5);
        run.policy.timeout = std::chrono::seconds(60);
        return run;
    }

    std::vector<store::Submitted> Submit(std::vector<Run> batch) {
        auto outcome = runs().Submit({.now = now_, .runs = std::move(batch)});
        EXPECT_TRUE(outcome) << outcome.error().Describe();
        return outcome ? *outcome : std::vector<store::Submitted>{};
    }
    Uuid SubmitOne(const Run& run) {
        const auto outcomes = Submit({run});
        return outcomes.empty() ? Uuid{} : outcomes[0].id;
    }

    std::vector<Run> Claim(std::size_t limit, store::ClaimFilter filter = {},
                           const std::string& owner = "w1") {
        auto claimed =
            runs().Claim({.filter = std::move(filter), .owner = owner, .limit = limit}, now_);
        EXPECT_TRUE(claimed) << claimed.error().Describe();
        return claimed ? claimed->runs : std::vector<Run>{};
    }
    Run ClaimOne() {
        auto claimed = Claim(1);
        EXPECT_EQ(claimed.size(), 1U);
        return claimed.empty() ? Run{} : claimed[0];
    }

    store::Applied Apply(const Uuid& id, model::Event event) {
        auto applied = runs().Apply({{id, std::move(event)}}, now_);
        EXPECT_TRUE(applied) << applied.error().Describe();
        return applied ? applied->at(0) : store::Applied{};
    }
    store::Applied Report(const Run& run, model::EventKind kind, const std::string& error = "") {
        return Apply(run.id, {.kind = kind,
                              .exec_id = run.status.exec_id,
                              .result = kind == model::EventKind::kSuccess ? "true" : "",
                              .error = error});
    }

    // Submits the run, starts it and ends it.
    Run Finish(const Run& run) {
        SubmitOne(run);
        const auto claimed = Claim(1, {.kind = run.kind});
        EXPECT_EQ(claimed.size(), 1U);
        if (!claimed.empty()) Report(claimed[0], model::EventKind::kSuccess);
        return run;
    }
    Result<void> DeleteRun(const Uuid& id, std::optional<model::AuditEvent> audit = {}) {
        return runs().Delete({.now = now_, .id = id, .audit = std::move(audit)});
    }

    store::RunHistory Read(const Uuid& id) {
        auto history = runs().Get(id);
        EXPECT_TRUE(history) << history.error().Describe();
        return history ? *history : store::RunHistory{};
    }
    model::RunState StateOf(const Uuid& id) { return Read(id).run.status.state; }

    model::Job MakeJob(const std::string& id) {
        model::Job job;
        job.id = id;
        job.name = "job " + id;
        job.action = model::HttpAction{.url = "http://127.0.0.1/" + id};
        job.schedule.kind = schedule::ScheduleKind::kEvery;
        job.schedule.every = std::chrono::minutes(1);
        job.state.planned_until = now_;
        job.state.next_run_at = now_ + std::chrono::minutes(1);
        return job;
    }

    Result<model::Job> Write(model::Job job, store::WriteMode mode = store::WriteMode::kCreate,
                             std::optional<std::int64_t> version = {}) {
        auto outcomes = jobs().Write(
            {.now = now_,
             .writes = {{.job = std::move(job), .mode = mode, .expected_version = version}}});
        if (!outcomes) return std::move(outcomes).error();
        return std::move(outcomes->at(0));
    }
    model::Job Create(model::Job job) {
        auto written = Write(std::move(job));
        EXPECT_TRUE(written) << written.error().Describe();
        return written ? *written : model::Job{};
    }

    // Returns a run as a fire of the job makes it.
    Run MakeFire(const model::Job& job, TimePoint nominal) {
        Run run = MakeRun("");
        run.job_id = job.id;
        run.kind = model::ActionKind::kHttp;
        run.trigger = model::RunTrigger::kFire;
        run.nominal_at = nominal;
        run.status.ready_at = nominal;
        run.policy.overlap = job.overlap;
        run.policy.run_log = job.run_log;
        return run;
    }
    // Plans due jobs that fire every minute: one run per fire.
    store::Planned PlanDue(store::PlanParams params = {}) {
        if (!params.now) params.now = now_;
        auto planned = jobs().PlanDue(params, [this](const model::Job& job, TimePoint now) {
            return PlanEveryMinute(job, now);
        });
        EXPECT_TRUE(planned) << planned.error().Describe();
        return planned ? *planned : store::Planned{};
    }
    // Also plans jobs that become due within `ahead`: one fire of each, stored as started if
    // possible.
    store::Planned PlanAhead(Duration ahead) {
        const store::StartAs start{.owner = "me", .kind = model::ActionKind::kHttp, .ahead = ahead};
        auto planned =
            jobs().PlanDue({.now = now_, .look_ahead = ahead, .start = start},
                           [this](const model::Job& job, TimePoint now) {
                               return PlanEveryMinute(job, std::max(now, *job.state.next_run_at));
                           });
        EXPECT_TRUE(planned) << planned.error().Describe();
        return planned ? *planned : store::Planned{};
    }
    store::JobPlan PlanEveryMinute(const model::Job& job, TimePoint now) {
        store::JobPlan plan{.planned_until = now};
        TimePoint next = *job.state.next_run_at;
        for (; next <= now; next += std::chrono::minutes(1)) {
            plan.runs.push_back(MakeFire(job, next));
        }
        plan.next_run_at = next;
        return plan;
    }

    std::vector<Run> ListAll(store::RunQuery query = {}) {
        std::vector<Run> all;
        query.limit = 7;
        for (;;) {
            auto page = runs().List(query);
            EXPECT_TRUE(page) << page.error().Describe();
            if (!page) return all;
            all.insert(all.end(), page->items.begin(), page->items.end());
            if (page->next.empty()) return all;
            query.cursor = page->next;
        }
    }

    // Creates a job and stores its first `fires` fires, ready and in order. Returns their runs.
    std::vector<Uuid> Fires(model::OverlapPolicy policy, int fires) {
        model::Job job = MakeJob("j1");
        job.overlap = policy;
        Create(job);
        std::vector<Uuid> ids;
        for (int i = 0; i < fires; ++i) {
            now_ += std::chrono::minutes(1);
            ids.push_back(SubmitOne(MakeFire(job, now_)));
        }
        return ids;
    }
    std::vector<Run> ClaimHttp() { return Claim(10, {.kind = model::ActionKind::kHttp}); }

    std::vector<std::string> Ids(store::JobQuery query) {
        std::vector<std::string> ids;
        query.limit = 2;
        for (;;) {
            auto page = jobs().List(query);
            EXPECT_TRUE(page) << page.error().Describe();
            if (!page) return ids;
            for (const model::Job& job : page->items) ids.push_back(job.id);
            if (page->next.empty()) return ids;
            query.cursor = page->next;
        }
    }
    using Strings = std::vector<std::string>;

    std::vector<model::Record> ReadAll(store::Store& from) {
        std::vector<model::Record> all;
        std::string cursor;
        for (;;) {
            auto page = from.records().Read(cursor, 3);
            EXPECT_TRUE(page) << page.error().Describe();
            if (!page) return all;
            for (auto& record : page->items) all.push_back(std::move(record));
            if (page->next.empty()) return all;
            cursor = page->next;
        }
    }

    // Stores one of everything, in many states.
    void Fill() {
        for (int i = 0; i < 5; ++i) Create(MakeJob("j" + std::to_string(i)));
        ASSERT_TRUE(store().types().Put({.type = {.code = "mail"}}));
        for (const char* key : {"x", "y", "z"}) {
            ASSERT_TRUE(store().settings().Put({.key = key, .value = "1"}));
        }
        ASSERT_TRUE(store().locks().TryAcquire({.name = "l", .owner = "o"}));
        ASSERT_TRUE(store().events().Append({{.action = "a"}, {.action = "b"}}));
        now_ += std::chrono::minutes(1);
        const auto planner = [this](const model::Job& job, TimePoint now) {
            store::JobPlan plan = PlanEveryMinute(job, now);
            plan.ranges.push_back({model::FireFate::kMissed, {1, now, now}});
            return plan;
        };
        ASSERT_TRUE(jobs().PlanDue({.now = now_}, planner));
        Run keyed = MakeRun();
        keyed.unique.key = "k";
        Submit({keyed, MakeRun("a"), MakeRun("b"), MakeRun("c")});
        auto claimed = Claim(3, {.types = {"a", "b", "c"}});
        ASSERT_EQ(claimed.size(), 3U);
        Report(claimed[0], model::EventKind::kSuccess);
        Report(claimed[1], model::EventKind::kRetryableFailure, "x");
        now_ += std::chrono::minutes(1);
        Claim(1, {.types = {claimed[1].type}});
    }

    std::unique_ptr<StoreHarness> harness_;
    FakeClock id_clock_;
    SystemRandom random_;
    UuidGenerator ids_{id_clock_, random_};
};

}  // namespace ksana::conformance
