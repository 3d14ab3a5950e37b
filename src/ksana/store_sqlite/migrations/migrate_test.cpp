#include "ksana/store_sqlite/migrations/migrate.hpp"

#include <fmt/core.h>

#include <thread>

#include "ksana/store_sqlite/backend_fixture.hpp"

namespace ksana::store_sqlite {
namespace {

class MigrationsTest : public BackendFixture {};

TEST_F(MigrationsTest, AreNumberedWithoutGaps) {
    int expected = 1;
    for (const store_kit::Migration& migration : Migrations()) {
        EXPECT_EQ(migration.version, expected++);
    }
}

TEST_F(MigrationsTest, StatusBeforeAndAfter) {
    EXPECT_EQ(SqliteMigrationStatus(Path()).error().code, Code::kNotFound);
    ASSERT_TRUE(Connection::Open(Path(), OpenMode::kCreate));
    auto status = SqliteMigrationStatus(Path());
    ASSERT_TRUE(status);
    EXPECT_TRUE(status->Pending());
    EXPECT_EQ(status->newest_applied, 0);
    EXPECT_EQ(status->steps.front(), (store_kit::MigrationStatus::Step{1, "initial", false}));
    Open();
    status = SqliteMigrationStatus(Path());
    ASSERT_TRUE(status);
    EXPECT_FALSE(status->Pending());
    EXPECT_TRUE(status->steps.front().applied);
}

TEST_F(MigrationsTest, AReaderDoesNotMigrate) {
    ASSERT_TRUE(Connection::Open(Path(), OpenMode::kCreate));
    SqliteOptions options = Options();
    options.read_only = true;
    const auto opened = OpenSqlite(options);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::kConflict);
    EXPECT_NE(opened.error().message.find("migrate it first"), std::string::npos);
}

TEST_F(MigrationsTest, ANewerDatabaseIsRefused) {
    Open();
    {
        auto connection = Connection::Open(Path(), OpenMode::kExisting);
        ASSERT_TRUE(connection);
        ASSERT_TRUE((*connection)->Execute("INSERT INTO ksana_schema VALUES(77, 'later', 0)"));
        std::filesystem::remove(Path() + "-sums");  // of the pages before this change
    }
    for (const bool read_only : {false, true}) {
        SqliteOptions options = Options();
        options.read_only = read_only;
        const auto opened = OpenSqlite(options);
        ASSERT_FALSE(opened);
        EXPECT_EQ(opened.error().code, Code::kConflict);
        EXPECT_NE(opened.error().message.find("77"), std::string::npos);
        const std::string newest = fmt::format("up to {}:", Migrations().back().version);
        EXPECT_NE(opened.error().message.find(newest), std::string::npos);
    }
}

TEST_F(MigrationsTest, OfSeveralOpenersOneMigratesAndTheOthersAreTold) {
    std::atomic<int> opened{0};
    std::atomic<int> refused{0};
    std::vector<std::unique_ptr<store_kit::Backend>> kept(4);
    {
        std::vector<std::jthread> threads;
        for (auto& slot : kept) {
            threads.emplace_back([&] {
                auto backend = OpenSqlite(Options());
                if (backend) {
                    slot = std::move(*backend);
                    ++opened;
                } else if (backend.error().code == Code::kUnavailable) {
                    ++refused;
                }
            });
        }
    }
    EXPECT_EQ(opened, 1);
    EXPECT_EQ(refused, 3);
}

}  // namespace
}  // namespace ksana::store_sqlite
