#pragma once

#include "conformance/store_fixture.hpp"
#include "ksana/model/job/job_run.hpp"

namespace ksana::conformance {

// Helpers for jobs that depend on each other or follow each other. Not a fixture of its own: the
// drivers instantiate StoreTest. Lives for one test.
class Graph {
  public:
    Graph(store::Store& store, TimePoint& now) : store_(store), now_(now) {}

    static model::Job Plain(const std::string& id) {
        model::Job job;
        job.id = id;
        job.name = id;
        job.action = model::QueueAction{.type = id};
        job.schedule.kind = schedule::ScheduleKind::kEvery;
        job.schedule.every = std::chrono::hours(1000);
        job.overlap = model::OverlapPolicy::kAllow;
        job.retry = model::RetryPolicy{.max_retries = 0};
        return job;
    }
    static model::Job Depends(
        const std::string& id, const std::vector<std::string>& parents,
        model::OnDependencyFailure on_failure = model::OnDependencyFailure::kSkip) {
        model::Job job = Plain(id);
        for (const std::string& parent : parents) job.depends_on.push_back({parent, on_failure});
        return job;
    }
    static model::Job After(const std::string& id, const std::vector<std::string>& parents,
                            schedule::AfterJoin join = schedule::AfterJoin::kAll,
                            schedule::AfterOn on = schedule::AfterOn::kSuccess) {
        model::Job job = Plain(id);
        job.schedule = {.kind = schedule::ScheduleKind::kAfter, .on = on, .join = join};
        job.schedule.jobs = parents;
        return job;
    }

    Result<model::Job> Save(model::Job job, store::WriteMode mode = store::WriteMode::kUpsert) {
        if (!job.state.planned_until) job.state.planned_until = now_;
        auto outcomes =
            store_.jobs().Write({.now = now_, .writes = {{.job = std::move(job), .mode = mode}}});
        if (!outcomes) return std::move(outcomes).error();
        return std::move(outcomes->at(0));
    }
    void Have(const model::Job& job) {
        const auto saved = Save(job);
        ASSERT_TRUE(saved) << saved.error().Describe();
    }

    // Stores the run of a fire of the job at the current time.
    model::Run Fire(const std::string& id) {
        auto job = store_.jobs().Get(id);
        EXPECT_TRUE(job) << job.error().Describe();
        model::Run run = model::RunOf(*job, nullptr, {});
        run.id = ids_.Next();
        run.trigger = model::RunTrigger::kFire;
        run.nominal_at = now_;
        run.status.ready_at = now_;
        const auto stored = store_.runs().Submit({.now = now_, .runs = {run}});
        EXPECT_TRUE(stored) << stored.error().Describe();
        return run;
    }

    // Claims whatever of the job can start.
    std::vector<model::Run> Claim(const std::string& id) {
        auto claimed = store_.runs().Claim(
            {.filter = {.types = {id}}, .owner = "w", .lease = std::chrono::hours(1), .limit = 10},
            now_);
        EXPECT_TRUE(claimed) << claimed.error().Describe();
        return claimed ? claimed->runs : std::vector<model::Run>{};
    }
    void End(const model::Run& run, model::EventKind how = model::EventKind::kSuccess) {
        const auto applied = store_.runs().Apply(
            {{run.id, {.kind = how, .exec_id = run.status.exec_id, .error = "because"}}}, now_);
        ASSERT_TRUE(applied) << applied.error().Describe();
        EXPECT_EQ(applied->at(0).verdict, model::EventVerdict::kApplied) << applied->at(0).reason;
    }
    // Starts the waiting run of the job and ends it.
    void Run(const std::string& id, model::EventKind how = model::EventKind::kSuccess) {
        const auto claimed = Claim(id);
        ASSERT_EQ(claimed.size(), 1U) << id;
        End(claimed[0], how);
    }
    // A fire that ends.
    void FireAndRun(const std::string& id, model::EventKind how = model::EventKind::kSuccess) {
        Fire(id);
        Run(id, how);
    }

    model::Run Read(const Uuid& id) {
        auto history = store_.runs().Get(id);
        EXPECT_TRUE(history) << history.error().Describe();
        return history ? history->run : model::Run{};
    }
    std::vector<model::Run> RunsOf(const std::string& id) {
        store::RunQuery query{.descending = false};
        query.filter.job_id = id;
        auto page = store_.runs().List(query);
        EXPECT_TRUE(page) << page.error().Describe();
        return page ? page->items : std::vector<model::Run>{};
    }
    bool Awaits(const Uuid& id) { return model::AwaitsJobs(Read(id).status); }
    store::Reaped Reap() {
        auto reaped = store_.runs().Reap({.now = now_});
        EXPECT_TRUE(reaped) << reaped.error().Describe();
        return reaped ? *reaped : store::Reaped{};
    }
    // Adds a run that ended without anybody being told: a lost event.
    void EndUntold(const std::string& id) {
        model::Run run = model::RunOf(*store_.jobs().Get(id), nullptr, {});
        run.id = ids_.Next();
        run.created_at = run.updated_at = run.status.ready_at = now_;
        run.status.state = model::RunState::kSucceeded;
        run.status.finished_at = now_;
        const auto added = store_.records().Add({run});
        ASSERT_TRUE(added) << added.error().Describe();
    }

  private:
    store::Store& store_;
    TimePoint& now_;
    FakeClock clock_;
    SystemRandom random_;
    UuidGenerator ids_{clock_, random_};
};

}  // namespace ksana::conformance
