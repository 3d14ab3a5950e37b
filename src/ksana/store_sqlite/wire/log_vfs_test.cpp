#include "ksana/store_sqlite/wire/log_vfs.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "ksana/store_sqlite/wire/connection.hpp"
#include "support/temporary_folder.hpp"

namespace ksana::store_sqlite {
namespace {

class LogVfsTest : public ::testing::Test {
  protected:
    static std::unique_ptr<Connection> Make(const std::string& path, LogWrites log) {
        auto connection = Connection::Open(path, OpenMode::kCreate, log).value();
        EXPECT_TRUE(connection->Execute(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0; "
            "PRAGMA cache_size=20; CREATE TABLE t(x INTEGER PRIMARY KEY, y BLOB)"));
        return connection;
    }
    static void Do(Connection& connection, const std::string& sql) {
        const auto done = connection.Execute(sql);
        EXPECT_TRUE(done) << done.error().Describe();
    }
    // Inserts rows of about a page each.
    static void Insert(Connection& connection, int first, int count) {
        Do(connection, fmt::format("WITH RECURSIVE n(i) AS (SELECT {} UNION ALL SELECT i+1 FROM n "
                                   "WHERE i<{}) INSERT INTO t SELECT i, randomblob(3000) FROM n",
                                   first, first + count - 1));
    }
    static std::string Ask(Connection& connection, const std::string& sql) {
        Query query = connection.Dynamic(sql);
        const auto row = query.Next();
        EXPECT_TRUE(row && *row) << sql;
        return row && *row ? query.Text() : "";
    }
    static void ExpectWhole(Connection& connection, int count) {
        EXPECT_EQ(Ask(connection, "PRAGMA integrity_check"), "ok");
        EXPECT_EQ(Ask(connection, "SELECT CAST(count(*) AS TEXT) FROM t"), std::to_string(count));
    }
    // Returns the number of write calls of this process so far.
    static long WriteCalls() {
        std::ifstream file("/proc/self/io");
        std::string word;
        long count = 0;
        while (file >> word && word != "syscw:") {
        }
        file >> count;
        return count;
    }
    static long CallsOf(Connection& connection) {
        const long before = WriteCalls();
        Insert(connection, 1, 50);
        return WriteCalls() - before;
    }

    test::TemporaryFolder folder_;
    const std::string path_ = folder_.File("log.db");
};

TEST_F(LogVfsTest, ACommitTakesFewCalls) {
    const auto plain = Make(folder_.File("plain.db"), LogWrites::kPlain);
    const auto gathered = Make(path_, LogWrites::kGathered);
    const long usual = CallsOf(*plain);
    EXPECT_GE(usual, 100);
    EXPECT_LE(CallsOf(*gathered), usual / 5);
}

TEST_F(LogVfsTest, WhatIsCommittedIsInTheFiles) {
    const auto writer = Make(path_, LogWrites::kGathered);
    const auto reader = Connection::Open(path_, OpenMode::kReadOnly).value();
    const std::string copy = folder_.File("copy.db");
    for (int i = 0; i < 20; ++i) {
        Insert(*writer, 1 + 3 * i, 3);
        ExpectWhole(*reader, 3 * (i + 1));
        // Copies the files as another process would find them after a crash of this one.
        std::filesystem::copy_file(path_, copy, std::filesystem::copy_options::overwrite_existing);
        std::filesystem::copy_file(path_ + "-wal", copy + "-wal",
                                   std::filesystem::copy_options::overwrite_existing);
        std::filesystem::remove(copy + "-shm");
        ExpectWhole(*Connection::Open(copy, OpenMode::kExisting).value(), 3 * (i + 1));
    }
}

// The cache has twenty pages: the others go to the log before the commit and are read from there.
TEST_F(LogVfsTest, ATransactionReadsWhatItHasWritten) {
    const auto writer = Make(path_, LogWrites::kGathered);
    Do(*writer, "BEGIN IMMEDIATE");
    Insert(*writer, 1, 300);
    Do(*writer, "SAVEPOINT s");
    Insert(*writer, 301, 200);
    Do(*writer, "UPDATE t SET y=randomblob(2900) WHERE x<200");
    ExpectWhole(*writer, 500);
    Do(*writer, "ROLLBACK TO s");
    ExpectWhole(*writer, 300);
    Do(*writer, "UPDATE t SET y=randomblob(2800)");
    Do(*writer, "COMMIT");
    const auto reader = Connection::Open(path_, OpenMode::kReadOnly).value();
    ExpectWhole(*reader, 300);
    EXPECT_EQ(Ask(*reader, "SELECT CAST(sum(length(y)) AS TEXT) FROM t"), "840000");
}

TEST_F(LogVfsTest, WhatIsRolledBackIsOverwritten) {
    const auto writer = Make(path_, LogWrites::kGathered);
    for (int i = 0; i < 5; ++i) {
        Do(*writer, "BEGIN IMMEDIATE");
        Insert(*writer, 1000, 100);
        Do(*writer, "ROLLBACK");
        Insert(*writer, 1 + i, 1);
    }
    ExpectWhole(*Connection::Open(path_, OpenMode::kReadOnly).value(), 5);
}

TEST_F(LogVfsTest, ACheckpointAndANewBeginning) {
    const auto writer = Make(path_, LogWrites::kGathered);
    for (int i = 0; i < 10; ++i) {
        Insert(*writer, 1 + 40 * i, 40);
        Do(*writer, "PRAGMA wal_checkpoint(RESTART)");
    }
    ExpectWhole(*writer, 400);
    ExpectWhole(*Connection::Open(path_, OpenMode::kReadOnly).value(), 400);
}

}  // namespace
}  // namespace ksana::store_sqlite
