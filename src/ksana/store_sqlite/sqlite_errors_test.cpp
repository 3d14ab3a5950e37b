#include <sqlite3.h>

#include <fstream>

#include "ksana/store_sqlite/backend_fixture.hpp"
#include "ksana/store_sqlite/sqlite_backend.hpp"
#include "ksana/store_sqlite/wire/connection.hpp"

namespace ksana::store_sqlite {
namespace {

using store_kit::Transaction;

class SqliteErrorsTest : public BackendFixture {
  protected:
    static SqliteBackend& Inner(store_kit::Backend& backend) {
        return dynamic_cast<SqliteBackend&>(backend);
    }
};

TEST(SqliteErrorTest, TheNumberDecides) {
    EXPECT_EQ(CodeOf(SQLITE_FULL), Code::kStorageFull);
    EXPECT_EQ(CodeOf(SQLITE_NOMEM), Code::kUnavailable);
    EXPECT_EQ(CodeOf(SQLITE_BUSY_SNAPSHOT), Code::kUnavailable);
    EXPECT_EQ(CodeOf(SQLITE_LOCKED), Code::kUnavailable);
    EXPECT_EQ(CodeOf(SQLITE_IOERR_FSYNC), Code::kUnavailable);
    EXPECT_EQ(CodeOf(SQLITE_CANTOPEN), Code::kUnavailable);
    EXPECT_EQ(CodeOf(SQLITE_CORRUPT_INDEX), Code::kDataLoss);
    EXPECT_EQ(CodeOf(SQLITE_NOTADB), Code::kDataLoss);
    EXPECT_EQ(CodeOf(SQLITE_TOOBIG), Code::kInvalidArgument);
    EXPECT_EQ(CodeOf(SQLITE_CONSTRAINT_PRIMARYKEY), Code::kAlreadyExists);
    EXPECT_EQ(CodeOf(SQLITE_ERROR), Code::kInternal);
    EXPECT_EQ(CodeOf(SQLITE_MISUSE), Code::kInternal);
}

TEST_F(SqliteErrorsTest, AFullDiskHarmsNothingAndPasses) {
    auto backend = Open();
    ASSERT_TRUE(Insert(*backend, {MakeRun(1)}));
    Connection& connection = Inner(*backend).WriterForTest();
    ASSERT_TRUE(connection.Execute("PRAGMA max_page_count=1"));  // no more pages than there are
    model::Run big = MakeRun(2);
    big.payload = std::string(1 << 20, 'x');
    const auto full = Insert(*backend, {big});
    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().code, Code::kStorageFull) << full.error().message;
    EXPECT_NE(full.error().message.find("full"), std::string::npos);
    EXPECT_EQ(Load(*backend, {Id(1), Id(2)}).size(), 1U);

    ASSERT_TRUE(connection.Execute("PRAGMA max_page_count=1000000"));
    ASSERT_TRUE(Insert(*backend, {big}));
    EXPECT_EQ(Load(*backend, {Id(1), Id(2)}).size(), 2U);
}

TEST_F(SqliteErrorsTest, AFullDiskInABodyThatGoesOnCommitsNothing) {
    auto backend = Open();
    const model::Run small = MakeRun(1);
    ASSERT_TRUE(Insert(*backend, {small}));
    ASSERT_TRUE(Inner(*backend).WriterForTest().Execute("PRAGMA max_page_count=1"));
    model::Run big = MakeRun(2);
    big.payload = std::string(1 << 20, 'x');
    const auto written = backend->Write([&](Transaction& tx) -> Result<void> {
        EXPECT_FALSE(tx.InsertRuns({&big}));
        (void)tx.DeleteRuns({&small});  // must not be committed alone
        return {};
    });
    ASSERT_TRUE(Inner(*backend).WriterForTest().Execute("PRAGMA max_page_count=1000000"));
    EXPECT_FALSE(written);
    EXPECT_EQ(Load(*backend, {Id(1), Id(2)}).size(), 1U);
}

TEST_F(SqliteErrorsTest, AFileThatIsNoDatabase) {
    std::ofstream(Path()) << std::string(8192, 'x');
    const auto opened = OpenSqlite(Options());
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::kDataLoss) << opened.error().message;
}

TEST_F(SqliteErrorsTest, AFolderThatIsNotThere) {
    SqliteOptions options = Options();
    options.path = (folder_ / "none" / "ksana.db").string();
    const auto opened = OpenSqlite(options);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::kUnavailable) << opened.error().message;
}

TEST_F(SqliteErrorsTest, ATextThatIsTooLong) {
    auto backend = Open();
    sqlite3_limit(Inner(*backend).WriterForTest().handle(), SQLITE_LIMIT_LENGTH, 10'000);
    model::Run run = MakeRun(1);
    run.payload = std::string(20'000, 'x');
    const auto inserted = Insert(*backend, {run});
    ASSERT_FALSE(inserted);
    EXPECT_EQ(inserted.error().code, Code::kInvalidArgument) << inserted.error().message;
    EXPECT_TRUE(Load(*backend, {Id(1)}).empty());
}

// The statement fails at its second row, after it has changed the first.
TEST_F(SqliteErrorsTest, AnUpdateThatFailsHalfwayChangesNothing) {
    auto backend = Open();
    std::vector<model::Run> runs = {MakeRun(1), MakeRun(2)};
    ASSERT_TRUE(Insert(*backend, runs));
    sqlite3_limit(Inner(*backend).WriterForTest().handle(), SQLITE_LIMIT_LENGTH, 10'000);
    runs[0].status.state = model::RunState::kSucceeded;
    runs[1].status.result = std::string(20'000, 'x');
    const auto updated =
        backend->Write([&](Transaction& tx) { return tx.UpdateRuns(store_kit::RefsTo(runs)); });
    ASSERT_FALSE(updated);
    EXPECT_EQ(updated.error().code, Code::kInvalidArgument) << updated.error().message;
    for (const model::Run& run : Load(*backend, {Id(1), Id(2)})) {
        EXPECT_EQ(run.status.state, model::RunState::kQueued);
    }
}

TEST_F(SqliteErrorsTest, ADamagedDatabase) {
    auto backend = Open();
    ASSERT_TRUE(Insert(*backend, {MakeRun(1)}));
    backend.reset();
    {
        std::fstream file(Path(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(4096);
        const std::string garbage(std::filesystem::file_size(Path()) - 4096, '\x7e');
        file << garbage;
    }
    const auto opened = OpenSqlite(Options());
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::kDataLoss) << opened.error().message;
}

}  // namespace
}  // namespace ksana::store_sqlite
