#include "ksana/store_sqlite/wire/wal_keeper.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "ksana/base/time/fake_clock.hpp"
#include "ksana/store_sqlite/wire/session.hpp"
#include "support/temporary_folder.hpp"

namespace ksana::store_sqlite {
namespace {

constexpr int kFrames = 50;
constexpr std::uintmax_t kFrameSize = 4096 + 24;

class WalKeeperTest : public ::testing::Test {
  protected:
    WalKeeperTest() : connection_(Make(path_)), readers_(path_, 4, shared_) {}

    static std::unique_ptr<Connection> Make(const std::string& path) {
        auto connection = Connection::Open(path, OpenMode::kCreate).value();
        EXPECT_TRUE(
            connection->Execute("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; "
                                "PRAGMA journal_size_limit=-1; PRAGMA synchronous=OFF; "
                                "CREATE TABLE t(x BLOB)"));
        return connection;
    }

    // Commits a transaction of about ten pages.
    void WriteOnce() {
        ASSERT_TRUE(connection_->Begin());
        ASSERT_TRUE(connection_->Execute("INSERT INTO t VALUES(zeroblob(40000))"));
        ASSERT_TRUE(connection_->Commit());
    }

    std::uintmax_t LogBytes() const { return std::filesystem::file_size(path_ + "-wal"); }

    test::TemporaryFolder folder_;
    const std::string path_ = folder_.File("log.db");
    FakeClock clock_;
    Shared shared_{.clock = clock_, .policies = {}};
    std::unique_ptr<Connection> connection_;
    ReaderPool readers_;
};

TEST_F(WalKeeperTest, TheLogBeginsAnewAtItsWorkingSize) {
    WalKeeper keeper(*connection_, readers_, nullptr, kFrames);
    for (int i = 0; i < 100; ++i) {
        WriteOnce();
        keeper.Maintain(false);
    }
    EXPECT_LE(LogBytes(), (kFrames + 20) * kFrameSize);
}

TEST_F(WalKeeperTest, GrowsWhileIdleUpToItsWorkingSizeAndNoFurther) {
    WalKeeper keeper(*connection_, readers_, nullptr, 300);
    WriteOnce();
    int pieces = 0;
    while (keeper.Maintain(true)) ASSERT_LT(++pieces, 100);
    EXPECT_EQ(LogBytes(), 300 * kFrameSize);
    WriteOnce();  // the zeros after the frames are not part of the log
    EXPECT_EQ(LogBytes(), 300 * kFrameSize);
}

// There is always a reader: if readers were never held back, the log would grow for ever.
TEST_F(WalKeeperTest, ReadersWithoutAGapDoNotKeepTheLogGrowing) {
    WalKeeper keeper(*connection_, readers_, nullptr, kFrames);
    WriteOnce();
    std::atomic<bool> stop = false;
    std::atomic<int> reads = 0;
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&] {
            while (!stop) {
                EXPECT_TRUE(readers_.Read([&](store_kit::Reader& reader) -> Result<void> {
                    KSANA_TRY([[maybe_unused]] const TimePoint now, reader.Now());
                    ++reads;
                    return {};
                }));
            }
        });
    }
    std::uintmax_t longest = 0;
    for (int i = 0; i < 400; ++i) {
        WriteOnce();
        keeper.Maintain(false);
        longest = std::max(longest, LogBytes());
    }
    stop = true;
    threads.clear();
    EXPECT_GT(reads, 0);
    // About four thousand frames were written.
    EXPECT_LE(longest,
              static_cast<std::uintmax_t>((WalKeeper::kTooLong + 2) * kFrames) * kFrameSize);
}

}  // namespace
}  // namespace ksana::store_sqlite
