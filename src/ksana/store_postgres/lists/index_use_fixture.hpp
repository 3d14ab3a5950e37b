#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>

#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_postgres/open_postgres.hpp"
#include "ksana/store_postgres/wire/names.hpp"
#include "support/postgres_server.hpp"

// Fixture for tests of which rows statements read: tables of some size, and the server's
// statistics.

namespace ksana::store_postgres {

inline constexpr std::int64_t kBase = 1'800'000'000'000'000;  // microseconds: 2027

class IndexUseTest : public ::testing::Test {
  protected:
    using Transaction = store_kit::Transaction;
    using Body = std::function<Result<void>(Transaction&)>;

    void SetUp() override {
        auto backend = OpenPostgres(schema_.Options());
        ASSERT_TRUE(backend) << backend.error().Describe();
        const auto store = store_kit::MakeStore(std::move(*backend), ids_);
        model::Run run;
        run.type = "first";
        ASSERT_TRUE(store->runs().Submit({.runs = {run}}));
        model::Job job;
        job.id = "j0";
        job.action = model::HttpAction{.url = "http://127.0.0.1/"};
        job.schedule.kind = schedule::ScheduleKind::kEvery;
        job.schedule.every = std::chrono::minutes(1);
        ASSERT_TRUE(store->jobs().Write({.writes = {{.job = job}}}));
        Fill();
        ASSERT_FALSE(HasFailure()) << "the tables could not be filled";
    }

    void Fill() {
        schema_.Run(
            "INSERT INTO ksana.jobs SELECT 'j' || i, nextval('ksana.job_revisions'), version, "
            "replace(definition, '\"j0\"', '\"j' || i || '\"'), "
            "CASE WHEN i % 100 = 0 THEN 'acme' ELSE 'default' END, "
            "CASE WHEN i % 100 = 0 THEN 'g' ELSE '' END, "
            "CASE WHEN i % 100 = 0 THEN 'ann' ELSE '' END, 'n' || i, kind, "
            "CASE WHEN i % 100 = 0 THEN 't' ELSE '' END, ARRAY['1:a' || i], "
            "ARRAY['j' || i + 1], i, i "
            "FROM ksana.jobs, generate_series(1, 5000) i");
        schema_.Run(fmt::format(
            "INSERT INTO ksana.job_state SELECT j.id, j.revision, true, 0, {} + created_at, "
            "created_at, 5, '', 1, 0 FROM ksana.jobs j WHERE id <> 'j0'",
            kBase));
        const std::string runs = fmt::format(
            "INSERT INTO ksana.{{}} (id, job_id, tenant, type, category, creator, policy_id, "
            "state, ready_at, finished_at, attempt, owner, parent, nominal_at, created_at, "
            "updated_at{{}}) "
            "SELECT gen_random_uuid(), CASE WHEN i % 2 = 0 THEN 'j' || i % 4000 ELSE '' END, "
            "CASE WHEN i % 100 = 0 THEN 'acme' ELSE 'default' END, 't' || i % 10, "
            "CASE WHEN i % 100 = 0 THEN 'c' ELSE '' END, CASE WHEN i % 100 = 0 THEN 'u' ELSE '' "
            "END, (SELECT min(id) FROM ksana.policies), {{}}, {0} + i, {{}}, i % 2, 'w' || i % 50, "
            "CASE WHEN i % 100 = 0 THEN '{1}'::uuid END, {0} + i, 0, 0{{}} FROM generate_series(1, "
            "30000) i",
            kBase, parent_.ToString());
        schema_.Run(fmt::format(fmt::runtime(runs), "runs", ", rank, expires_at, blocked", "i % 3",
                                store_kit::kNoTime,
                                fmt::format(", {0} + i, CASE WHEN i % 3 = 2 THEN {0} + i END, "
                                            "i % 3 = 1 AND i % 1000 = 0",
                                            kBase)));
        schema_.Run(fmt::format(fmt::runtime(runs), "finished_runs", "", "5 + i % 7",
                                fmt::format("{} + i", kBase), ""));
        schema_.Run(
            "INSERT INTO ksana.runs (id, type, policy_id, created_at, updated_at, state, ready_at, "
            "rank) "
            "SELECT gen_random_uuid(), 'backlog', (SELECT min(id) FROM ksana.policies), 0, 0, 1, "
            "i, "
            "i "
            "FROM generate_series(1, 60000) i");
        schema_.Run(
            "INSERT INTO ksana.attempts SELECT id, 1, '', 1, '', 0, 0, 1, '', '', false "
            "FROM ksana.finished_runs LIMIT 10000");
        schema_.Run(
            "INSERT INTO ksana.run_keys SELECT 'default', 'k' || i, gen_random_uuid() "
            "FROM generate_series(1, 5000) i");
        schema_.Run(
            "INSERT INTO ksana.ledger (job_id, fate, count, first_at, last_at, recorded_at) "
            "SELECT 'j' || i % 1000, 2, 1, i, i, i FROM generate_series(1, 10000) i");
        schema_.Run(
            "INSERT INTO ksana.audit_events (at, tenant, action, user_name, resource_type, "
            "resource_id, old_object, new_object, data, client_ip, method) SELECT i, 'default', "
            "'a', 'u' || i % 500, 'job', 'j' || i % 1000, '', '', '', '', '' "
            "FROM generate_series(1, 10000) i");
        schema_.Run(
            "INSERT INTO ksana.documents SELECT 'k' || i % 5, 'd' || i, 1, '{}', 0, "
            "CASE WHEN i % 10 = 0 THEN i END FROM generate_series(1, 10000) i");
        for (const char* table : {"jobs", "job_state", "runs", "finished_runs", "attempts",
                                  "run_keys", "ledger", "audit_events", "documents"}) {
            schema_.Run(fmt::format("ANALYZE ksana.{}", table));
        }
    }

    // Returns the tables that were read by sequential scans so far, and how often. First flushes
    // the statistics of this connection, which may otherwise arrive up to a second later, in the
    // middle of a test.
    std::string SequentialScans() {
        schema_.Run("SELECT pg_stat_force_next_flush()");
        const Rows rows = schema_.Run(fmt::format(
            "SELECT coalesce(string_agg(relname || ' ' || seq_scan, ', ' ORDER BY relname), '') "
            "FROM pg_stat_user_tables WHERE schemaname = '{}' AND relname <> 'policies' "
            "AND relname <> 'migrations'",
            schema_.name()));
        return RowReader(rows, 0).Text();
    }

    // Waits until the server process has ended: it reports its statistics then at the latest.
    void AwaitEnd(const std::string& application) {
        for (;;) {
            const Rows rows = schema_.Run(
                fmt::format("SELECT count(*) FROM pg_stat_activity WHERE application_name = '{}'",
                            application));
            if (RowReader(rows, 0).Int64() == 0) return;
            std::this_thread::yield();
        }
    }

    // Expects that `body` causes no sequential scan.
    void Check(const std::string& name, const Body& body) {
        const std::string before = SequentialScans();
        Call(name, body);
        EXPECT_EQ(SequentialScans(), before) << name;
    }

    // Runs `body` on a backend of its own, and waits until its server process has ended.
    void Call(const std::string& name, const Body& body) {
        PostgresOptions options = schema_.Options();
        options.url += "?application_name=" + schema_.name();
        options.listen = false;
        options.pool_size = 1;
        {
            auto backend = OpenPostgres(options);
            ASSERT_TRUE(backend) << backend.error().Describe();
            const auto done = (*backend)->Write(body);
            EXPECT_TRUE(done) << name << ": " << done.error().Describe();
        }
        AwaitEnd(schema_.name());
    }

    template <class F>
    void CheckCall(const std::string& name, const F& call) {
        Check(name, [&](Transaction& tx) -> Result<void> {
            auto done = call(tx);
            if (!done) return std::move(done).error();
            return {};
        });
    }

    std::int64_t ScansOf(const std::string& table) {
        const Rows rows = schema_.Run(
            fmt::format("SELECT seq_scan FROM pg_stat_user_tables WHERE schemaname = '{}' "
                        "AND relname = '{}'",
                        schema_.name(), table));
        return RowReader(rows, 0).Int64();
    }

    // Returns the number of rows read so far, by any index or none.
    std::int64_t RowsRead() {
        const Rows rows = schema_.Run(fmt::format(
            "SELECT sum(coalesce(idx_tup_fetch, 0) + seq_tup_read)::bigint "
            "FROM pg_stat_user_tables WHERE schemaname = '{}' AND relname <> 'migrations'",
            schema_.name()));
        return RowReader(rows, 0).Int64();
    }

    void ExpectRead(std::int64_t most, const std::string& name, const Body& body) {
        const std::int64_t before = RowsRead();
        Call(name, body);
        EXPECT_LE(RowsRead() - before, most) << name;
    }

    // There is no index on last_run_at, because updating it at the end of every run would cost more
    // than the list gains: `job_state` is read once, and only the definitions of the page.
    void ListByLastRun() {
        const std::int64_t states = ScansOf("job_state");
        const std::int64_t definitions = ScansOf("jobs");
        for (const bool descending : {false, true}) {
            Call("list by last run", [&](Transaction& tx) -> Result<void> {
                KSANA_TRY(const auto jobs,
                          tx.ListJobs({.sort = store::JobSort::kLastRun,
                                       .descending = descending,
                                       .limit = 10,
                                       .after = store_kit::JobList::After{"", 2500, "j2500"}}));
                EXPECT_EQ(jobs.rows.size(), 10U);
                EXPECT_EQ(jobs.rows[0].id, descending ? "j2499" : "j2501");
                return {};
            });
        }
        Call("search by last run", [&](Transaction& tx) -> Result<void> {
            KSANA_TRY(
                const auto jobs,
                tx.ListJobs(
                    {.words = {"n2"}, .sort = store::JobSort::kLastRun, .limit = 10, .look = 200}));
            EXPECT_EQ(jobs.rows.size(), 10U);
            EXPECT_TRUE(jobs.scanned_to);
            return {};
        });
        EXPECT_LE(ScansOf("job_state"), states + 3);
        EXPECT_EQ(ScansOf("jobs"), definitions);
    }

    static TimePoint At(std::int64_t offset) { return TimePoint(Duration(kBase + offset)); }

    ksana::testing::PostgresSchema schema_;
    UuidGenerator ids_{schema_.clock(), schema_.random()};
    const Uuid parent_ = ids_.Next();  // of every hundredth run
};

}  // namespace ksana::store_postgres
