#include "ksana/store_postgres/migrations/migrate.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "ksana/store_postgres/migrations/migration_steps.hpp"
#include "ksana/store_postgres/open_postgres.hpp"
#include "support/postgres_server.hpp"

namespace ksana::store_postgres {
namespace {

using ksana::testing::PostgresSchema;

int Newest() { return MigrationSteps().back().version; }

TEST(MigrateTest, StepsCountFromOne) {
    int version = 0;
    for (const auto& step : MigrationSteps()) EXPECT_EQ(step.version, ++version);
}

TEST(MigrateTest, StatusTellsWhatIsThereAndWhatIsNot) {
    PostgresSchema schema;
    auto status = PostgresMigrationStatus(schema.Options());
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_EQ(status->newest_applied, 0);
    EXPECT_EQ(status->newest_known, Newest());
    EXPECT_TRUE(status->Pending());
    ASSERT_TRUE(OpenPostgres(schema.Options()));
    status = PostgresMigrationStatus(schema.Options());
    ASSERT_TRUE(status);
    EXPECT_EQ(status->newest_applied, Newest());
    EXPECT_FALSE(status->Pending());
    EXPECT_TRUE(status->steps.front().applied);
}

TEST(MigrateTest, NodesThatStartTogether) {
    PostgresSchema schema;
    std::vector<std::jthread> nodes;
    for (int i = 0; i < 4; ++i) {
        nodes.emplace_back([&] {
            const auto opened = OpenPostgres(schema.Options());
            EXPECT_TRUE(opened) << opened.error().message;
        });
    }
    nodes.clear();
    const Rows rows = schema.Run("SELECT count(*) FROM ksana.migrations");
    EXPECT_EQ(RowReader(rows, 0).Int64(), Newest());
}

TEST(MigrateTest, LaterSchemaIsRefused) {
    PostgresSchema schema;
    ASSERT_TRUE(OpenPostgres(schema.Options()));
    schema.Run("INSERT INTO ksana.migrations (version, name) VALUES (1000, 'from tomorrow')");
    const auto opened = OpenPostgres(schema.Options());
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::kConflict);
    EXPECT_NE(opened.error().message.find("1000"), std::string::npos) << opened.error().message;
    const auto status = PostgresMigrationStatus(schema.Options());
    ASSERT_TRUE(status);
    EXPECT_EQ(status->newest_applied, 1000);
    EXPECT_EQ(status->steps.back().name, "from tomorrow");
}

TEST(MigrateTest, WithoutPermissionToMigrateNothingIsDone) {
    PostgresSchema schema;
    PostgresOptions options = schema.Options();
    options.migrate = false;
    const auto opened = OpenPostgres(options);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::kConflict);
    EXPECT_EQ(PostgresMigrationStatus(options)->newest_applied, 0);
}

// Rows of an earlier schema are found by the columns that a later step has added.
TEST(MigrateTest, OldRowsGetTheNewColumns) {
    PostgresSchema schema;
    SystemClock clock;
    const Deadline deadline(clock, std::chrono::seconds(30));
    auto made =
        Connection::Open({.url = ksana::testing::PostgresUrl(), .schema = schema.name()}, deadline);
    ASSERT_EQ(made.index(), 0U);
    const auto done =
        Migrate(*std::get<0>(made), {.schema = schema.name(), .steps = MigrationSteps().first(3)},
                deadline);
    ASSERT_TRUE(done) << done.error().message;
    schema.Run(
        "INSERT INTO ksana.jobs SELECT 'j' || i, i, 1, '{\"job\":{\"id\":\"j' || i || '\",' || "
        "'\"name\":\"n\",\"type\":\"http\",\"http\":{\"url\":\"http://127.0.0.1/\"},' || "
        "'\"schedule\":{\"kind\":\"every\",\"every\":\"1h\"' || CASE WHEN i = 1 THEN "
        "',\"calendar\":\"c\"' ELSE '' END || '}}}', 'default', 'g', '', 'n', 0, '', '{}', '{}', "
        "0, 0 "
        "FROM generate_series(1, 2) i");
    schema.Run(
        "INSERT INTO ksana.job_state SELECT 'j' || i, i, i = 2, 0, 0, 0, NULL, '', 0, 0 "
        "FROM generate_series(1, 2) i");
    const auto backend = OpenPostgres(schema.Options());
    ASSERT_TRUE(backend) << backend.error().message;
    const auto read = (*backend)->Read([](store_kit::Reader& reader) -> Result<void> {
        KSANA_TRY(const auto users, reader.ListJobs({.filter = {.calendar = "c"}, .limit = 10}));
        EXPECT_EQ(users.rows.size(), 1U);
        KSANA_TRY(const auto groups, reader.Groups({.name = "", .after = "", .limit = 10}));
        EXPECT_EQ(groups, (std::vector<store::GroupSize>{{"g", 2, 1}}));
        return {};
    });
    EXPECT_TRUE(read) << read.error().Describe();
}

// A step that fails leaves the schema at the version before it.
TEST(MigrateTest, StepIsAllOrNothing) {
    PostgresSchema schema;
    SystemClock clock;
    const Deadline deadline(clock, std::chrono::seconds(30));
    auto made =
        Connection::Open({.url = ksana::testing::PostgresUrl(), .schema = schema.name()}, deadline);
    ASSERT_EQ(made.index(), 0U);
    const std::vector<store_kit::Migration> steps = {
        {1, "good", "CREATE TABLE ksana.a (x int);\n"},
        {2, "bad", "CREATE TABLE ksana.b (x int);\nSELECT 1 / 0;\n"}};
    const auto done =
        Migrate(*std::get<0>(made), {.schema = schema.name(), .steps = steps}, deadline);
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message.find("bad"), std::string::npos) << done.error().message;
    const Rows rows = schema.Run("SELECT count(*) FROM ksana.migrations");
    EXPECT_EQ(RowReader(rows, 0).Int64(), 1);
    EXPECT_TRUE(schema.Run("SELECT to_regclass('ksana.b')").IsNull(0, 0));
}

}  // namespace
}  // namespace ksana::store_postgres
