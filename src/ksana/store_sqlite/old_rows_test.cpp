#include <string>

#include "ksana/store_sqlite/backend_fixture.hpp"
#include "ksana/store_sqlite/migrations/migration_steps.hpp"
#include "ksana/store_sqlite/rows/policy_cache.hpp"
#include "ksana/store_sqlite/wire/connection.hpp"

// A database made by an earlier build, with rows in it, is migrated to the current schema.

namespace ksana::store_sqlite {
namespace {

using model::RunState;

// Rows as the build with schema version 1 wrote them: a job with a succeeded, a failed (which ended
// earlier) and a queued run of its first three fires, and a queued run without a job.
constexpr const char* kRowsOfVersion1 = R"sql(
CREATE TABLE ksana_schema(version INTEGER PRIMARY KEY, name TEXT NOT NULL,
    applied_at INTEGER NOT NULL) STRICT;
INSERT INTO ksana_schema VALUES(1, 'initial', 1794825144614126);
INSERT INTO policies VALUES(1, '1 3 5000000 3600000000 0 10000000 0 1 0 0 0 0 0');
INSERT INTO runs VALUES(1, X'019ca69a000170008000000000000001', NULL, 'j', 1772323201000000, 0,
    X'028000000002808995ede4faa50600',
    CAST(X'050080064beb274cb440019ca69a000170008000000000000001' AS TEXT), 1772323201000000,
    CAST(X'05019ca69a000170008000000000000001' AS TEXT), 1772323209000000, 21,
    CAST(X'02000022000580d1e5f4e4faa50602'||zeroblob(62) AS BLOB));
INSERT INTO runs VALUES(2, X'019ca69a000270008000000000000002', NULL, 'j', 1772323202000000, 0,
    X'02800000000280928feee4faa50600',
    CAST(X'060080064beb273d7200019ca69a000270008000000000000002' AS TEXT), 1772323202000000,
    CAST(X'06019ca69a000270008000000000000002' AS TEXT), 1772323208000000, 25,
    CAST(X'02000022000680c8ebf3e4faa50602'||zeroblob(62) AS BLOB));
INSERT INTO runs VALUES(3, X'019ca69a000370008000000000000003', NULL, 'j', 1772323203000000, 0,
    X'028000000002809b89efe4faa50600',
    CAST(X'640080064bea7420c8c0019ca69a000370008000000000000003' AS TEXT), 1772323203000000,
    NULL, NULL, 4, CAST(X'020000000001809b89efe4faa506'||zeroblob(88) AS BLOB));
INSERT INTO runs VALUES(4, X'019ca69a000470008000000000000004', 'mail', NULL, NULL, 3,
    X'020004000002809b89efe4faa506027b7d',
    CAST(X'676d61696c0080064bea7420c8c0019ca69a000470008000000000000004' AS TEXT),
    1772323203000000, NULL, NULL, NULL,
    CAST(X'020000000001809b89efe4faa506'||zeroblob(84) AS BLOB));
INSERT INTO jobs VALUES('j', 'default', 'default', '', 'j', 1, 0, '', 1772323200000000,
    1772323200000000, 1,
    '{"job":{"id":"j","name":"j","type":"http","http":{"url":"http://127.0.0.1:9/"}' ||
    ',"schedule":{"kind":"every","every":"1s","start_at":"2026-03-01T00:00:00Z","calendar":"c"}}}');
INSERT INTO job_state VALUES('j', 1, 1772323203000000, 1772323204000000, 1772323202000000, NULL,
    '', 2, 0);
)sql";

class OldRowsTest : public BackendFixture {
  protected:
    OldRowsTest() {
        auto connection = Connection::Open(Path(), OpenMode::kCreate);
        EXPECT_TRUE(connection);
        EXPECT_TRUE((*connection)->Execute(std::string(kInitialSchema)));
        EXPECT_TRUE((*connection)->Execute(kRowsOfVersion1));
    }

    static Uuid OldId(int number) {
        const std::string digit = std::to_string(number);
        return *Uuid::Parse("019ca69a-000" + digit + "-7000-8000-00000000000" + digit);
    }
    static TimePoint Second(int number) {
        return TimePoint(std::chrono::seconds(1'772'323'200 + number));
    }

    static std::vector<Uuid> Ids(store_kit::Backend& backend, const store_kit::RunList& list) {
        std::vector<Uuid> ids;
        const auto read = backend.Read([&](store_kit::Reader& reader) -> Result<void> {
            KSANA_TRY(const auto runs, reader.ListRuns(list));
            for (const model::Run& run : runs.rows) ids.push_back(run.id);
            return {};
        });
        EXPECT_TRUE(read) << read.error().Describe();
        return ids;
    }
};

TEST_F(OldRowsTest, AJobIsFoundByItsCalendarAndCountedInItsGroup) {
    const auto backend = Open();
    const auto read = backend->Read([](store_kit::Reader& reader) -> Result<void> {
        KSANA_TRY(const auto users, reader.ListJobs({.filter = {.calendar = "c"}, .limit = 10}));
        EXPECT_EQ(users.rows.size(), 1U);
        KSANA_TRY(const auto groups, reader.Groups({.name = "", .after = "", .limit = 10}));
        EXPECT_EQ(groups, (std::vector<store::GroupSize>{{"default", 1, 0}}));
        return {};
    });
    EXPECT_TRUE(read) << read.error().Describe();
}

// Policies were stored as numbers, not as JSON.
TEST_F(OldRowsTest, PoliciesAreReadAsTheyWere) {
    auto connection = Connection::Open(Path(), OpenMode::kExisting);
    ASSERT_TRUE(connection);
    ASSERT_TRUE((*connection)
                    ->Execute("INSERT INTO policies VALUES(2, '2 7 1000000 60000000 0.25 30000000 "
                              "2000000 3 1 1 1 1 0 "
                              "5000000 10000000')"));
    const model::RunPolicy old{
        .retry = {.strategy = model::RetryStrategy::kSequence,
                  .max_retries = 7,
                  .interval = std::chrono::seconds(1),
                  .sequence = {std::chrono::seconds(5), std::chrono::seconds(10)},
                  .max_interval = std::chrono::minutes(1),
                  .jitter = 0.25},
        .timeout = std::chrono::seconds(30),
        .stop_grace = std::chrono::seconds(2),
        .overlap = model::OverlapPolicy::kQueueAll,
        .ignores_overlap = true,
        .run_log = model::RunLog::kTrigger,
        .need_manual = true,
        .success_callback = true,
        .error_callback = false};
    PolicyCache cache;
    EXPECT_EQ(cache.Load(**connection, 2).value(), old);
    ASSERT_TRUE(cache.Fill(**connection));
    EXPECT_EQ(cache.Load(**connection, 2).value(), old);
    PolicyWriter writer;
    const auto id = writer.IdOf(**connection, old);
    ASSERT_TRUE(id);
    EXPECT_EQ(PolicyCache().Load(**connection, *id).value(), old) << "written as JSON";
    ASSERT_TRUE((*connection)->Execute("UPDATE policies SET body='1 x' WHERE id=2"));
    EXPECT_EQ(PolicyCache().Load(**connection, 2).error().code, Code::kDataLoss);
}

TEST_F(OldRowsTest, AreReadAsTheyWere) {
    const auto backend = Open();
    const auto runs = Load(*backend, {OldId(1), OldId(2), OldId(3), OldId(4)});
    ASSERT_EQ(runs.size(), 4U);
    EXPECT_EQ(runs[0].status.state, RunState::kSucceeded);
    EXPECT_EQ(runs[0].status.finished_at, Second(9));
    EXPECT_EQ(runs[1].status.state, RunState::kFailed);
    EXPECT_EQ(runs[2].status.state, RunState::kQueued);
    EXPECT_EQ(runs[2].nominal_at, Second(3));
    EXPECT_EQ(runs[3].type, "mail");
    EXPECT_EQ(runs[3].payload, "{}");
}

TEST_F(OldRowsTest, AreInTheListsOfTheirJob) {
    const auto backend = Open();
    const std::vector<Uuid> all{OldId(3), OldId(2), OldId(1)};
    store_kit::RunList list{.filter = {.job_id = "j"}, .words = {}, .limit = 10};
    EXPECT_EQ(Ids(*backend, list), all);
    list.limit = 2;
    EXPECT_EQ(Ids(*backend, list), (std::vector{OldId(3), OldId(2)}));
    list.after = {.time = 0, .id = OldId(2)};
    EXPECT_EQ(Ids(*backend, list), std::vector{OldId(1)});
    list.after.reset();
    list.sort = store::RunSort::kFinished;
    list.descending = false;
    EXPECT_EQ(Ids(*backend, list), (std::vector{OldId(2), OldId(1)}));
}

TEST_F(OldRowsTest, KeepTheirFiresAndGates) {
    const auto backend = Open();
    model::Run again = MakeRun(1);
    again.job_id = "j";
    again.nominal_at = Second(2);
    const auto written = backend->Write([&](store_kit::Transaction& tx) -> Result<void> {
        KSANA_TRY(const auto fire, tx.FindFire("j", Second(2)));
        EXPECT_TRUE(fire && fire->id == OldId(2));
        KSANA_TRY(const auto inserted, tx.InsertRuns({&again}));
        EXPECT_EQ(inserted, std::vector{false});
        KSANA_TRY(const auto gates, tx.LockOverlapCounts({"j", "other"}));
        EXPECT_EQ(gates.at(0).waiting, 1);
        EXPECT_EQ(gates.at(0).under_way, 0);
        EXPECT_EQ(gates.at(1).waiting, 0);
        KSANA_TRY(const auto unstarted, tx.LockUnstarted("j", 10));
        EXPECT_EQ(unstarted.size(), 1U);
        KSANA_TRY(const auto due, tx.LockDueJobs(Second(4), 10));
        EXPECT_EQ(due.size(), 1U);
        return {};
    });
    EXPECT_TRUE(written) << written.error().Describe();
}

}  // namespace
}  // namespace ksana::store_sqlite
