#include "ksana/store_postgres/rows/lock_order.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_postgres/open_postgres.hpp"
#include "ksana/store_postgres/wire/names.hpp"
#include "support/postgres_server.hpp"

namespace ksana::store_postgres {
namespace {

using ksana::testing::PostgresSchema;
using model::EventKind;

TEST(LockOrderTest, JobsAreWaitedForFirst) {
    LockOrder order({});
    EXPECT_EQ(order.ForJobs(LockOrder::Jobs{"a"}), LockWait::kWait);
    EXPECT_EQ(order.ForJobs(LockOrder::Jobs{"b"}), LockWait::kNoWait);
    EXPECT_EQ(order.ForRuns(), LockWait::kWait);
    EXPECT_EQ(order.asked(), (LockOrder::Jobs{"a", "b"}));
    EXPECT_EQ(LockOrder({"a"}).NextJobs(), LockWait::kNoWait) << "some were locked before";
}

TEST(LockOrderTest, WhoTookRunsOutOfTurnWaitsForNothing) {
    LockOrder order({});
    order.NoteOutOfTurn();
    EXPECT_EQ(order.NextJobs(), LockWait::kNoWait);
    EXPECT_EQ(order.ForRuns(), LockWait::kNoWait);
    EXPECT_EQ(order.ForRunsById(), LockWait::kNoWait);
}

TEST(LockOrderTest, RunsAreWaitedForOnceInTheOrderOfTheirIds) {
    LockOrder order({});
    EXPECT_EQ(order.NextJobs(), LockWait::kWait);
    order.NoteHeld("a");
    EXPECT_TRUE(order.Holds("a"));
    EXPECT_EQ(order.ForRunsById(), LockWait::kWait);
    EXPECT_EQ(order.ForRunsById(), LockWait::kNoWait);
    EXPECT_EQ(order.ForRuns(), LockWait::kWait) << "of the jobs that it holds";
}

// Runs everything that locks jobs and runs at once, on few jobs. The server counts deadlocks for
// each database, so this test has its own.
class DeadlockTest : public ::testing::Test {
  protected:
    static constexpr int kJobs = 3;

    void SetUp() override {
        schema_.Run("CREATE DATABASE " + schema_.name());
        options_.url.replace(options_.url.rfind('/') + 1, std::string::npos, schema_.name());
        options_.url += "?application_name=" + schema_.name();
        auto backend = OpenPostgres(options_);
        ASSERT_TRUE(backend) << backend.error().Describe();
        store_ = store_kit::MakeStore(std::move(*backend), ids_);
        for (int i = 0; i < kJobs; ++i) WriteJob(i);
    }

    void TearDown() override {
        store_.reset();
        AwaitEnd();
        schema_.Run("DROP DATABASE " + schema_.name());
    }

    // Waits until the server processes have ended: their statistics are complete then.
    void AwaitEnd() {
        for (;;) {
            const Rows rows = schema_.Run(
                fmt::format("SELECT count(*) FROM pg_stat_activity WHERE application_name = '{}'",
                            schema_.name()));
            if (RowReader(rows, 0).Int64() == 0) return;
            std::this_thread::yield();
        }
    }

    std::int64_t Deadlocks() {
        const Rows rows = schema_.Run(fmt::format(
            "SELECT deadlocks FROM pg_stat_database WHERE datname = '{}'", schema_.name()));
        return RowReader(rows, 0).Int64();
    }

    static std::string JobId(int number) { return "j" + std::to_string(number % kJobs); }

    void WriteJob(int number) {
        model::Job job;
        job.id = JobId(number);
        job.action = model::HttpAction{.url = "http://127.0.0.1/"};
        job.schedule.kind = schedule::ScheduleKind::kEvery;
        job.schedule.every = std::chrono::minutes(1);
        const auto written = store_->jobs().Write({.writes = {{.job = job}}});
        EXPECT_TRUE(written) << written.error().Describe();
    }

    // Returns runs of all jobs; each run cancels the others of its job.
    std::vector<model::Run> Fires() {
        std::vector<model::Run> runs;
        for (int i = 0; i < 2 * kJobs; ++i) {
            model::Run run;
            run.id = ids_.Next();
            run.kind = model::ActionKind::kHttp;
            run.type = "http";
            run.job_id = JobId(i);
            run.policy.overlap = model::OverlapPolicy::kCancelOther;
            run.policy.retry.max_retries = 3;
            run.policy.retry.interval = std::chrono::milliseconds(1);
            if (depends_ && i % kJobs == 1) {
                run.policy.depends = true;
                run.policy.max_wait = std::chrono::seconds(1);
            }
            runs.push_back(std::move(run));
        }
        return runs;
    }

    template <class T>
    void Expect(const Result<T>& result) {
        EXPECT_TRUE(result) << result.error().Describe();
    }

    // Claims runs and reports the ones claimed before; every second report is a retryable failure.
    void Work(int number) {
        std::vector<model::RunEvent> events;
        for (int round = 0; round < kRounds; ++round) {
            Expect(store_->runs().Submit({.runs = Fires()}));
            auto exchanged = store_->runs().Exchange(
                {.events = std::exchange(events, {}),
                 .claim = store::ClaimParams{.filter = {.kind = model::ActionKind::kHttp},
                                             .owner = fmt::format("w{}", number),
                                             .limit = 5}});
            Expect(exchanged);
            if (!exchanged) return;
            for (const model::Run& run : exchanged->claimed.runs) {
                const bool well = events.size() % 2 == 0;
                events.push_back(
                    {run.id,
                     {.kind = well ? EventKind::kSuccess : EventKind::kRetryableFailure,
                      .exec_id = run.status.exec_id}});
            }
        }
    }

    void CancelSome() {
        for (int round = 0; round < kRounds; ++round) {
            auto page = store_->runs().List(
                {.filter = {.states = model::kUnfinishedStates}, .descending = false, .limit = 8});
            Expect(page);
            if (!page || page->items.empty()) continue;
            std::vector<model::RunEvent> events;
            for (const model::Run& run : page->items) {
                events.push_back({run.id, {.kind = EventKind::kCancel}});
            }
            Expect(store_->runs().Exchange({.events = std::move(events)}));
        }
    }

    void DeleteAndMakeAgain() {
        for (int round = 0; round < kRounds / 2; ++round) {
            Expect(store_->jobs().Delete({.id = JobId(round)}));
            WriteJob(round);
        }
    }

    void Reap() {
        for (int round = 0; round < kRounds; ++round) {
            Expect(
                store_->runs().Reap({.lost_owners = {fmt::format("w{}", round % 4)}, .limit = 5}));
        }
    }

    // j1 depends on j0 at times, and j2 fires after some of the others.
    void EditEdges(int number) {
        for (int round = 0; round < kRounds / 2; ++round) {
            auto job = store_->jobs().Get(JobId(number));
            Expect(job);
            if (!job) return;
            if (number == 1) {
                job->depends_on.clear();
                if (round % 2 == 0) job->depends_on = {{"j0", model::OnDependencyFailure::kWait}};
            } else {
                job->schedule = {.kind = schedule::ScheduleKind::kAfter};
                job->schedule.jobs = round % 2 == 0 ? std::vector<std::string>{"j0"}
                                                    : std::vector<std::string>{"j0", "j1"};
            }
            const auto written = store_->jobs().Write(
                {.writes = {{.job = *job, .mode = store::WriteMode::kReplace}}});
            Expect(written);
            if (written) Expect(written->at(0));
        }
    }

    void RunAtOnce(const std::vector<std::function<void()>>& bodies) {
        std::latch start(static_cast<std::ptrdiff_t>(bodies.size()));
        {
            std::vector<std::jthread> threads;
            for (const auto& body : bodies) {
                threads.emplace_back([&] {
                    start.arrive_and_wait();
                    body();
                });
            }
        }
        store_.reset();
        AwaitEnd();
        EXPECT_EQ(Deadlocks(), 0);
    }

    static constexpr int kRounds = 60;
    bool depends_ = false;  // runs of j1 ask about j0

    PostgresSchema schema_;
    PostgresOptions options_ = schema_.Options();
    UuidGenerator ids_{schema_.clock(), schema_.random()};
    std::unique_ptr<store::Store> store_;
};

TEST_F(DeadlockTest, NobodyWaitsInACircle) {
    RunAtOnce({[&] { Work(0); }, [&] { Work(1); }, [&] { Work(2); }, [&] { Work(3); },
               [&] { CancelSome(); }, [&] { DeleteAndMakeAgain(); }, [&] { Reap(); }});
}

// D-17: the ends of runs lock the jobs that depend on theirs, and edges have a lock of their own.
TEST_F(DeadlockTest, NobodyWaitsInACircleOfDependencies) {
    depends_ = true;
    RunAtOnce({[&] { Work(0); }, [&] { Work(1); }, [&] { Work(2); }, [&] { CancelSome(); },
               [&] { EditEdges(1); }, [&] { EditEdges(2); }, [&] { Reap(); }});
}

}  // namespace
}  // namespace ksana::store_postgres
