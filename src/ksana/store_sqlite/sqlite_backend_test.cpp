#include <unistd.h>

#include <thread>

#include "ksana/model/run/claim_order.hpp"
#include "ksana/store_sqlite/backend_fixture.hpp"
#include "ksana/store_sqlite/sqlite_backend.hpp"

namespace ksana::store_sqlite {
namespace {

using model::Job;
using model::RunState;
using store_kit::Reader;
using store_kit::Transaction;

class SqliteBackendTest : public BackendFixture {
  protected:
    // Runs a body in a transaction and returns its result.
    template <class F>
    static auto Written(store_kit::Backend& backend, const F& body) {
        using Value = typename std::invoke_result_t<F, Transaction&>::value_type;
        Value value{};
        const auto written = backend.Write([&](Transaction& tx) -> Result<void> {
            KSANA_TRY(value, body(tx));
            return {};
        });
        EXPECT_TRUE(written) << written.error().Describe();
        return value;
    }

    // Returns a run in which every field differs from its default.
    model::Run FullRun() const {
        model::Run run = MakeRun(7);
        const TimePoint t = clock_.Now();
        run.job_id = "job";
        run.tenant = "acme";
        run.category = "cat";
        run.creator = "ann";
        run.kind = model::ActionKind::kHttp;
        run.trigger = model::RunTrigger::kManual;
        run.priority = 9;
        run.nominal_at = t - std::chrono::seconds(1);
        run.selector = {{"zone", "eu:1"}, {"gpu", ""}};
        run.unique = {"key", model::kAllStates, t + std::chrono::hours(1)};
        run.parent = Id(3);
        run.policy.retry.sequence = {std::chrono::seconds(1), std::chrono::seconds(2)};
        run.policy.retry.jitter = 0.1;
        run.policy.need_manual = true;
        run.policy.run_log = model::RunLog::kTrigger;
        run.status = {.state = RunState::kRunning,
                      .ready_at = t,
                      .attempt = 2,
                      .failures = 1,
                      .fence = 5,
                      .exec_id = "e",
                      .last_report = model::EventKind::kTimeout,
                      .outcome = model::AttemptOutcome::kTimedOut,
                      .owner = "w1",
                      .lease_until = t + std::chrono::seconds(30),
                      .deadline = t + std::chrono::seconds(10),
                      .started_at = t,
                      .ended_at = t + std::chrono::seconds(1),
                      .finished_at = t + std::chrono::seconds(2),
                      .progress = 50,
                      .progress_note = "half",
                      .cancel_requested = true,
                      .not_stopping = true,
                      .blocked = true,
                      .result = "{}",
                      .last_error = "err",
                      .detail = "[]",
                      .remark = "rem",
                      .skip_reason = model::SkipReason::kLock};
        return run;
    }

    Job MakeJob(const std::string& id) const {
        Job job;
        job.id = id;
        job.name = "name of " + id;
        job.action = model::QueueAction{.type = "mail"};
        job.schedule.kind = schedule::ScheduleKind::kEvery;
        job.schedule.every = std::chrono::seconds(1);
        job.state.version = 1;
        job.state.created_at = job.state.updated_at = clock_.Now();
        job.state.planned_until = clock_.Now();
        job.state.next_run_at = clock_.Now() + std::chrono::seconds(1);
        return job;
    }
};

TEST_F(SqliteBackendTest, RunsComeBackAsTheyWere) {
    std::vector<model::Run> runs = {FullRun(), MakeRun(1), MakeRun(2)};
    runs[2].payload = std::string(1 << 20, 'x');
    {
        auto backend = Open();
        ASSERT_TRUE(Insert(*backend, runs));
        EXPECT_EQ(Load(*backend, {runs[0].id, runs[1].id, runs[2].id}), runs);
    }
    auto backend = Open();
    EXPECT_EQ(Load(*backend, {runs[0].id, runs[1].id, runs[2].id}), runs);

    runs[2].status.state = RunState::kSucceeded;
    runs[2].status.finished_at = clock_.Now();
    runs[0].status.progress = 51;
    ASSERT_TRUE(
        backend->Write([&](Transaction& tx) { return tx.UpdateRuns(store_kit::RefsTo(runs)); }));
    EXPECT_EQ(Load(*backend, {runs[0].id, runs[1].id, runs[2].id}), runs);
    ASSERT_TRUE(backend->Write([&](Transaction& tx) { return tx.DeleteRuns({&runs[2]}); }));
    EXPECT_EQ(Load(*backend, {runs[2].id}).size(), 0U);
}

TEST_F(SqliteBackendTest, AFireHasOneRun) {
    auto backend = Open();
    model::Run first = FullRun();
    model::Run second = first;
    second.id = Id(8);
    const auto inserted = Written(*backend, [&](Transaction& tx) {
        return tx.InsertRuns({&first, &second, &first});
    });
    EXPECT_EQ(inserted, (std::vector<bool>{true, false, false}));
    ASSERT_TRUE(backend->Read([&](Reader& reader) -> Result<void> {
        KSANA_TRY(const auto fire, reader.FindFire("job", *first.nominal_at));
        EXPECT_EQ(fire, first);
        return {};
    }));
}

TEST_F(SqliteBackendTest, JobsComeBackAsTheyWere) {
    auto backend = Open();
    Job job = MakeJob("j1");
    job.labels = {{"a", "b"}};
    job.depends_on = {{"j0", model::OnDependencyFailure::kWait}};
    job.state.last_state = RunState::kFailed;
    job.state.last_error = "no";
    job.state.total_runs = 7;
    const std::vector<Job> jobs = {job, MakeJob("j2")};
    EXPECT_EQ(Written(*backend, [&](Transaction& tx) { return tx.InsertJobs(jobs); }),
              (std::vector<bool>{true, true}));
    EXPECT_EQ(Written(*backend, [&](Transaction& tx) { return tx.InsertJobs(jobs); }),
              (std::vector<bool>{false, false}));
    EXPECT_EQ(Written(*backend,
                      [&](Transaction& tx) {
                          return tx.LockJobs({"j1", "nope", "j2"});
                      }),
              jobs);
    const auto due = Written(*backend, [&](Transaction& tx) {
        return tx.LockDueJobs(clock_.Now() + std::chrono::seconds(1), 1);
    });
    ASSERT_EQ(due.size(), 1U);
    EXPECT_EQ(due.front().id, "j1");

    job.labels = {{"c", "d"}};
    job.enabled = false;
    job.state.next_run_at.reset();
    ASSERT_TRUE(backend->Write([&](Transaction& tx) -> Result<void> {
        KSANA_TRY_VOID(tx.UpdateJobs({job}));
        model::JobTally tally{.job_id = "j1", .runs = 1, .failures_reset = true, .failures = 2};
        tally.last_state = RunState::kSucceeded;
        return tx.AddTallies({tally, {.job_id = "gone"}});
    }));
    job.state.total_runs = 8;
    job.state.consecutive_failures = 2;
    job.state.last_state = RunState::kSucceeded;
    job.state.last_error = "";
    ASSERT_TRUE(backend->Read([&](Reader& reader) -> Result<void> {
        KSANA_TRY(const auto found, reader.Jobs({"j1"}));
        EXPECT_EQ(found, std::vector<Job>{job});
        KSANA_TRY(const auto dependants, reader.DependantsOf("j0"));
        EXPECT_EQ(dependants, std::vector<std::string>{"j1"});
        store_kit::JobList list{.sort = store::JobSort::kNextRun, .limit = 10};
        KSANA_TRY(const auto by_next, reader.ListJobs(list));
        EXPECT_EQ(by_next.rows.size(), 2U);
        EXPECT_EQ(by_next.rows.back().id, "j1");
        list.filter.labels = {{"c", "d"}};
        list.sort = store::JobSort::kId;
        KSANA_TRY(const auto labelled, reader.CountJobs(list, 10));
        EXPECT_EQ(labelled.count, 1);
        return {};
    }));
}

TEST_F(SqliteBackendTest, ADeletedJobThatComesAgainIsTheNewOne) {
    auto backend = Open();
    Job job = MakeJob("j");
    ASSERT_TRUE(Written(*backend, [&](Transaction& tx) { return tx.InsertJobs({job}); })[0]);
    ASSERT_EQ(Written(*backend, [&](Transaction& tx) { return tx.LockJobs({"j"}); }).size(), 1U);
    job.name = "another";
    ASSERT_TRUE(backend->Write([&](Transaction& tx) { return tx.DeleteJob("j"); }));
    ASSERT_TRUE(Written(*backend, [&](Transaction& tx) { return tx.InsertJobs({job}); })[0]);
    EXPECT_EQ(Written(*backend, [&](Transaction& tx) { return tx.LockJobs({"j"}); }),
              std::vector<Job>{job});
}

TEST_F(SqliteBackendTest, ClaimsByRankOverTypesAndFilters) {
    auto backend = Open();
    std::vector<model::Run> runs;
    for (std::uint32_t i = 0; i < 60; ++i) {
        model::Run run = MakeRun(i);
        run.type = "type" + std::to_string(i % 3);
        run.priority = static_cast<std::int32_t>(i % 10);
        run.tenant = i % 4 == 0 ? "acme" : "default";
        run.category = i % 5 == 0 ? "red" : "";
        run.creator = i % 6 == 0 ? "ann" : "";
        if (i % 7 == 0) run.selector = {{"gpu", "yes"}};
        run.status.blocked = i % 11 == 0;
        runs.push_back(run);
    }
    ASSERT_TRUE(Insert(*backend, runs));
    std::ranges::sort(runs, {}, [](const model::Run& run) {
        return std::pair(model::ClaimRank(run.status.ready_at, run.priority), run.id);
    });
    const auto expect = [&](const store::ClaimFilter& filter, std::size_t limit) {
        std::vector<model::Run> wanted;
        for (const model::Run& run : runs) {
            const auto in = [](const auto& list, const std::string& value) {
                return list.empty() || std::ranges::find(list, value) != list.end();
            };
            if (wanted.size() == limit) break;
            if (run.status.blocked || !in(filter.types, run.type) ||
                !in(filter.categories, run.category) ||
                (!filter.tenant.empty() && run.tenant != filter.tenant) ||
                (!filter.creator.empty() && run.creator != filter.creator) ||
                (!run.selector.empty() && filter.labels.empty())) {
                continue;
            }
            wanted.push_back(run);
        }
        EXPECT_EQ(
            Written(*backend,
                    [&](Transaction& tx) { return tx.LockReady(filter, TimePoint{}, limit); }),
            wanted);
    };
    for (const std::size_t limit : {1U, 5U, 100U}) {
        expect({}, limit);
        expect({.types = {"type1"}}, limit);
        expect({.types = {"type2", "type0", "type2"}}, limit);
        expect({.categories = {"red"}}, limit);
        expect({.categories = {"red", ""}}, limit);
        expect({.tenant = "acme"}, limit);
        expect({.tenant = "default"}, limit);
        expect({.types = {"type0"}, .tenant = "acme", .creator = "ann"}, limit);
        expect({.creator = "ann", .labels = {{"gpu", "yes"}, {"more", "x"}}}, limit);
    }
}

TEST_F(SqliteBackendTest, GatesAndStrays) {
    auto backend = Open();
    model::Run running = MakeRun(1);
    model::Run blocked = MakeRun(2);
    model::Run stray = MakeRun(3);
    model::Run waiting = MakeRun(4);
    running.job_id = blocked.job_id = waiting.job_id = "a";
    stray.job_id = "b";
    running.status.state = RunState::kRunning;
    running.status.attempt = 1;
    running.status.owner = "w";
    running.status.lease_until = clock_.Now();
    blocked.status.blocked = stray.status.blocked = true;
    waiting.status.state = RunState::kScheduled;
    ASSERT_TRUE(Insert(*backend, {running, blocked, stray, waiting}));
    ASSERT_TRUE(backend->Write([&](Transaction& tx) -> Result<void> {
        KSANA_TRY(const auto gates, tx.LockOverlapCounts({"a", "none", "b"}));
        EXPECT_EQ(gates[0].under_way, 1);
        EXPECT_EQ(gates[0].blocked, 1);
        EXPECT_EQ(gates[1].under_way + gates[1].blocked, 0);
        EXPECT_EQ(gates[2].blocked, 1);
        KSANA_TRY(const auto strays, tx.LockWronglyBlocked(10));
        EXPECT_EQ(strays, std::vector<model::Run>{stray});
        KSANA_TRY(const auto first, tx.LockFirstBlocked("a"));
        EXPECT_EQ(first, blocked);
        KSANA_TRY(const auto gated, tx.LockGated("a"));
        EXPECT_EQ(gated.size(), 2U);
        KSANA_TRY(const auto unstarted, tx.LockUnstarted("a", 10));
        EXPECT_EQ(unstarted.size(), 2U);
        KSANA_TRY(const auto expired, tx.LockExpired(clock_.Now(), 10));
        EXPECT_EQ(expired, std::vector<model::Run>{running});
        KSANA_TRY(const auto owned, tx.LockOwned({"x", "w"}, 10));
        EXPECT_EQ(owned, std::vector<model::Run>{running});
        KSANA_TRY_VOID(tx.MakeDue(clock_.Now(), 10));
        KSANA_TRY(const auto made, tx.LockRuns({waiting.id}));
        EXPECT_EQ(made.front().status.state, RunState::kQueued);
        return {};
    }));
    ASSERT_TRUE(backend->Read([&](Reader& reader) -> Result<void> {
        KSANA_TRY(const auto wake, reader.NextWake());
        EXPECT_TRUE(wake.queued);
        EXPECT_EQ(wake.expiry, clock_.Now());
        EXPECT_FALSE(wake.ready || wake.plan);
        KSANA_TRY(const auto depths, reader.Depths());
        EXPECT_EQ(depths.size(), 2U);
        EXPECT_EQ(depths[0].count, 3);
        KSANA_TRY(const auto counts, reader.Counts());
        EXPECT_EQ(counts.runs, 4);
        return {};
    }));
}

TEST_F(SqliteBackendTest, KeysLedgerEventsAndDocuments) {
    auto backend = Open();
    const TimePoint now = clock_.Now();
    const store_kit::KeyClaim one{"t", "k", Id(1), now + std::chrono::seconds(1)};
    const store_kit::KeyClaim two{"t", "k", Id(2), {}};
    ASSERT_TRUE(backend->Write([&](Transaction& tx) -> Result<void> {
        KSANA_TRY(auto holders, tx.TakeKeys({one}, now));
        EXPECT_FALSE(holders[0]);
        KSANA_TRY(holders, tx.TakeKeys({two}, now));
        EXPECT_EQ(holders[0], Id(1));
        KSANA_TRY(holders, tx.TakeKeys({two}, now + std::chrono::seconds(1)));
        EXPECT_FALSE(holders[0]);
        KSANA_TRY_VOID(tx.FreeKeys({one}));
        KSANA_TRY(holders, tx.TakeKeys({one}, now));
        EXPECT_EQ(holders[0], Id(2));
        model::LedgerEntry entry{.job_id = "j", .recorded_at = now};
        KSANA_TRY_VOID(tx.InsertLedger({entry, entry}));
        model::AuditEvent event{.at = now, .action = "created", .user = "ann"};
        KSANA_TRY_VOID(tx.InsertEvents({event, event}));
        KSANA_TRY_VOID(tx.PutDocument({"lock", "a/1", 1, "{}", now, now}));
        KSANA_TRY_VOID(tx.PutDocument({"lock", "a/2", 1, "{}", now, {}}));
        return tx.PutDocument({"type", "b", 1, "{}", now, {}});
    }));
    ASSERT_TRUE(backend->Read([&](Reader& reader) -> Result<void> {
        KSANA_TRY(const auto ledger, reader.ListLedger({.job_id = "j", .after = 1, .limit = 9}));
        EXPECT_EQ(ledger.size(), 1U);
        KSANA_TRY(const auto events, reader.ListEvents({.filter = {.user = "ann"}, .limit = 9}));
        EXPECT_EQ(events.size(), 2U);
        EXPECT_EQ(events.front().seq, 2);
        KSANA_TRY(const auto all, reader.ListDocuments({.limit = 9}));
        EXPECT_EQ(all.size(), 3U);
        KSANA_TRY(
            const auto alive,
            reader.ListDocuments({.kind = "lock", .prefix = "a/", .alive_at = now, .limit = 9}));
        EXPECT_EQ(alive.size(), 1U);
        return {};
    }));
    EXPECT_EQ(Written(*backend, [&](Transaction& tx) { return tx.PurgeDocuments("lock", now, 9); }),
              1U);
    EXPECT_EQ(
        Written(*backend,
                [&](Transaction& tx) { return tx.PurgeEvents(now + std::chrono::seconds(1), 1); }),
        1U);
}

TEST_F(SqliteBackendTest, PurgesFinalRunsWithWhatBelongsToThem) {
    auto backend = Open();
    model::Run old = MakeRun(1);
    old.unique.key = "k";
    old.payload = "\"" + std::string(2'000, 'p') + "\"";
    old.status.state = RunState::kSucceeded;
    old.status.finished_at = clock_.Now();
    ASSERT_TRUE(Insert(*backend, {old, MakeRun(2)}));
    ASSERT_TRUE(backend->Write([&](Transaction& tx) -> Result<void> {
        KSANA_TRY(const auto holders, tx.TakeKeys({{"default", "k", old.id, {}}}, clock_.Now()));
        model::Attempt attempt{.run_id = old.id, .number = 1};
        return tx.InsertAttempts({attempt});
    }));
    const auto later = clock_.Now() + std::chrono::seconds(1);
    EXPECT_EQ(Written(*backend,
                      [&](Transaction& tx) {
                          return tx.PurgeRuns({.finished_before = later,
                                               .states = model::SetOf(RunState::kFailed)});
                      }),
              0U);
    EXPECT_EQ(Written(*backend,
                      [&](Transaction& tx) { return tx.PurgeRuns({.finished_before = later}); }),
              1U);
    ASSERT_TRUE(backend->Read([&](Reader& reader) -> Result<void> {
        KSANA_TRY(const auto counts, reader.Counts());
        EXPECT_EQ(counts.runs, 1);
        EXPECT_EQ(counts.attempts, 0);
        return {};
    }));
    Connection& connection = static_cast<SqliteBackend&>(*backend).WriterForTest();
    EXPECT_FALSE(*connection.Dynamic("SELECT 1 FROM payloads").Next());
    EXPECT_FALSE(Written(*backend, [&](Transaction& tx) {
        return tx.TakeKeys({{"default", "k", Id(9), {}}}, clock_.Now());
    })[0]);
}

TEST_F(SqliteBackendTest, AReaderSeesOneState) {
    auto backend = Open();
    ASSERT_TRUE(Insert(*backend, {MakeRun(1)}));
    ASSERT_TRUE(backend->Read([&](Reader& reader) -> Result<void> {
        EXPECT_TRUE(Insert(*backend, {MakeRun(2)}));
        KSANA_TRY(const auto runs, reader.Runs({Id(1), Id(2)}));
        EXPECT_EQ(runs.size(), 1U);
        return {};
    }));
    EXPECT_EQ(Load(*backend, {Id(1), Id(2)}).size(), 2U);
}

TEST_F(SqliteBackendTest, ABodyThatFailsHarmsOnlyItself) {
    auto backend = Open();
    std::atomic<int> failed{0};
    std::vector<std::jthread> threads;
    constexpr std::uint32_t kThreads = 8;
    constexpr std::uint32_t kEach = 25;
    for (std::uint32_t t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            for (std::uint32_t i = 0; i < kEach; ++i) {
                model::Run run = MakeRun(t * kEach + i + 1);
                // A new policy for each run.
                run.policy.timeout = std::chrono::seconds(t * kEach + i);
                const auto written = backend->Write([&](Transaction& tx) -> Result<void> {
                    KSANA_TRY(const auto inserted, tx.InsertRuns({&run}));
                    if (i % 3 == 0) return Error(Code::kConflict, "on purpose");
                    return {};
                });
                if (!written) ++failed;
            }
        });
    }
    threads.clear();
    EXPECT_EQ(failed, static_cast<int>(kThreads) * 9);
    for (std::uint32_t n = 0; n < kThreads * kEach; ++n) {
        const auto runs = Load(*backend, {Id(n + 1)});
        ASSERT_EQ(runs.size(), n % kEach % 3 == 0 ? 0U : 1U);
        if (!runs.empty()) {
            EXPECT_EQ(runs.front().policy.timeout, std::chrono::seconds(n));
        }
    }
}

// Runs that are running are kept in memory for the next event.
TEST_F(SqliteBackendTest, AStartThatIsRolledBackIsForgotten) {
    auto backend = Open();
    model::Run run = MakeRun(1);
    ASSERT_TRUE(Insert(*backend, {run}));
    run.status.state = model::RunState::kRunning;
    run.status.exec_id = "e1";
    const auto start = [&](bool fails) {
        return backend->Write([&](Transaction& tx) -> Result<void> {
            KSANA_TRY(const auto locked, tx.LockRuns({run.id}));
            EXPECT_EQ(locked.at(0).status.state, model::RunState::kQueued);
            EXPECT_EQ(locked.at(0).status.exec_id, "");
            KSANA_TRY_VOID(tx.UpdateRuns({&run}));
            if (fails) return Error(Code::kConflict, "on purpose");
            return {};
        });
    };
    EXPECT_FALSE(start(true));
    ASSERT_TRUE(start(false));
    EXPECT_EQ(Load(*backend, {run.id}).at(0).status.exec_id, "e1");
}

TEST_F(SqliteBackendTest, TellsTheFeedAfterTheCommit) {
    auto backend = Open();
    std::atomic<std::uint32_t> told{0};
    const auto subscription = backend->changes().Subscribe(
        store::Topics::All(), [&](store::Topics topics) { told |= topics.bits(); });
    ASSERT_TRUE(backend->Write([](Transaction& tx) -> Result<void> {
        tx.Touch(store::Topic::kReady);
        return {};
    }));
    EXPECT_EQ(told, store::Topics(store::Topic::kReady).bits());
}

TEST_F(SqliteBackendTest, ASecondWriterIsRefused) {
    auto backend = Open();
    const auto second = OpenSqlite(Options());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::kUnavailable);
    EXPECT_NE(second.error().message.find("is in use by another process"), std::string::npos);
    ASSERT_TRUE(Insert(*backend, {MakeRun(1)}));
    SqliteOptions reading = Options();
    reading.read_only = true;
    const auto reader = OpenSqlite(reading);
    ASSERT_TRUE(reader);
    EXPECT_EQ(Load(**reader, {Id(1)}).size(), 1U);
    const auto refused = (*reader)->Write([](Transaction&) { return Result<void>(); });
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kPermissionDenied);
}

TEST_F(SqliteBackendTest, NothingIsCreatedWhenNotAsked) {
    SqliteOptions options = Options();
    options.create = false;
    const auto opened = OpenSqlite(options);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::kNotFound);
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(SqliteBackendTest, WhatIsQueuedIsFinishedAtTheEnd) {
    std::vector<std::jthread> threads;
    auto backend = Open();
    std::atomic<int> begun{0};
    for (std::uint32_t t = 1; t <= 4; ++t) {
        threads.emplace_back([&, t] {
            EXPECT_TRUE(backend->Write([&](Transaction& tx) -> Result<void> {
                ++begun;
                const model::Run run = MakeRun(t);
                KSANA_TRY(const auto inserted, tx.InsertRuns({&run}));
                return {};
            }));
        });
    }
    threads.clear();
    EXPECT_GE(begun, 4);
    backend.reset();
    EXPECT_FALSE(std::filesystem::exists(Path() + "-wal"));
    backend = Open();
    EXPECT_EQ(Load(*backend, {Id(1), Id(2), Id(3), Id(4)}).size(), 4U);
}

}  // namespace
}  // namespace ksana::store_sqlite
