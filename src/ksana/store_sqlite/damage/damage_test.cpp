#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "ksana/base/log/log.hpp"
#include "ksana/store_sqlite/backend_fixture.hpp"
#include "ksana/store_sqlite/damage/log_layout.hpp"
#include "ksana/store_sqlite/sqlite_backend.hpp"
#include "ksana/store_sqlite/wire/connection.hpp"

// M04 and M05: damaged, cut and vanished files are told, and nothing is overwritten.

namespace ksana::store_sqlite {
namespace {

namespace fs = std::filesystem;

class DamageTest : public BackendFixture {
  protected:
    DamageTest() {
        SetLogSinkForTest([this](LogLevel, std::string_view line) { logged_ += line; });
    }
    ~DamageTest() override { SetLogSinkForTest(nullptr); }

    std::string LogPath() const { return Path() + "-wal"; }

    // A database that was closed, with more pages than the few that every start reads.
    void MakeClosed(std::uint32_t runs) {
        const auto backend = Open();
        for (std::uint32_t i = 1; i <= runs; ++i) {
            model::Run run = MakeRun(i);
            run.payload = std::string(3'000, 'p');
            ASSERT_TRUE(Insert(*backend, {run}));
        }
    }
    // A database as a process leaves it that is killed after `runs` commits.
    void MakeKilled(std::uint32_t runs) {
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            const auto backend = OpenSqlite(Options());
            bool well = backend.has_value();
            for (std::uint32_t i = 1; well && i <= runs; ++i) {
                well = Insert(**backend, {MakeRun(i)}).has_value();
            }
            ::_exit(well ? 0 : 1);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_EQ(status, 0);
        ASSERT_TRUE(fs::exists(LogPath()));
    }
    // As another program does that opens a database after a crash: its close copies the log into
    // the database and deletes it.
    void OpenAndCloseElsewhere() {
        sqlite3* database = nullptr;
        ASSERT_EQ(sqlite3_open_v2(Path().c_str(), &database, SQLITE_OPEN_READWRITE, nullptr),
                  SQLITE_OK);
        const DatabaseHandle owned(database);
        ASSERT_EQ(sqlite3_exec(database, "PRAGMA integrity_check", nullptr, nullptr, nullptr),
                  SQLITE_OK);
    }
    static void Flip(const std::string& path, std::uintmax_t byte) {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(static_cast<std::streamoff>(byte));
        const char was = static_cast<char>(file.get());
        file.seekp(static_cast<std::streamoff>(byte));
        file.put(static_cast<char>(was ^ 0x10));
    }
    // Refused at the start, or told by every run that cannot be read.
    bool IsTold(std::uint32_t runs) {
        logged_.clear();
        const auto backend = OpenSqlite(Options());
        if (!backend) return backend.error().code == Code::kDataLoss;
        bool told = false;
        for (std::uint32_t i = 1; i <= runs; ++i) {
            const auto read = (*backend)->Read([&](store_kit::Reader& reader) -> Result<void> {
                KSANA_TRY(const auto found, reader.Runs({Id(i)}));
                return {};
            });
            told = told || (!read && read.error().code == Code::kDataLoss);
        }
        return told;
    }
    void ExpectRefused(const std::string& word) {
        const auto opened = OpenSqlite(Options());
        ASSERT_FALSE(opened) << word;
        EXPECT_EQ(opened.error().code, Code::kDataLoss);
        EXPECT_NE(opened.error().message.find(word), std::string::npos) << opened.error().message;
        EXPECT_NE(opened.error().message.find("--repair"), std::string::npos);
        EXPECT_FALSE(OpenSqlite(Options())) << "a second try finds the same";
    }

    std::string logged_;
};

TEST_F(DamageTest, AFlippedBitOfAPageIsNotServed) {
    MakeClosed(20);
    const auto bytes = fs::file_size(Path());
    const std::string copy = Path() + ".copy";
    fs::copy_file(Path(), copy);
    int served = 0;
    Connection::Open(Path(), OpenMode::kReadOnly).value();
    for (std::uintmax_t page = 0; page < bytes / 4096; ++page) {
        Flip(Path(), page * 4096 + 1'777);
        // A page that nobody reads is neither served nor told.
        const auto backend = OpenSqlite(Options());
        if (backend) {
            Connection& writer = dynamic_cast<SqliteBackend&>(**backend).WriterForTest();
            Query query = writer.Dynamic("PRAGMA integrity_check");
            if (query.Next() && query.Text() == "ok") ++served;
        } else {
            EXPECT_EQ(backend.error().code, Code::kDataLoss) << backend.error().message;
        }
        fs::copy_file(copy, Path(), fs::copy_options::overwrite_existing);
    }
    EXPECT_EQ(served, 0) << "of " << bytes / 4096;
    EXPECT_TRUE(OpenSqlite(Options())) << "the copy is whole";
}

TEST_F(DamageTest, TheErrorNamesThePage) {
    MakeClosed(20);
    const auto bytes = fs::file_size(Path());
    for (std::uintmax_t page = 1; page < bytes / 4096; ++page) Flip(Path(), page * 4096 + 99);
    const auto opened = OpenSqlite(Options());
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::kDataLoss);
    EXPECT_NE(opened.error().message.find("differs from its checksum"), std::string::npos)
        << opened.error().message;
}

TEST_F(DamageTest, APageThatIsReadWhileTheServerRuns) {
    MakeClosed(20);
    const auto backend = Open();
    const auto bytes = fs::file_size(Path());
    for (std::uintmax_t page = 1; page < bytes / 4096; ++page) Flip(Path(), page * 4096 + 99);
    const auto read = backend->Read([&](store_kit::Reader& reader) -> Result<void> {
        KSANA_TRY(const auto found, reader.Runs({Id(7)}));
        return {};
    });
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Code::kDataLoss) << read.error().message;
    EXPECT_NE(logged_.find("differs from its checksum"), std::string::npos) << logged_;
}

TEST_F(DamageTest, AnOlderDatabaseWithoutChecksumsIsCovered) {
    MakeClosed(20);
    fs::remove(Path() + "-sums");
    {
        const auto backend = Open();
        EXPECT_EQ(Load(*backend, {Id(3)}).size(), 1U);
        Connection& writer = dynamic_cast<SqliteBackend&>(*backend).WriterForTest();
        Query query = writer.Dynamic("PRAGMA integrity_check");
        EXPECT_TRUE(query.Next());
        EXPECT_TRUE(Insert(*backend, {MakeRun(100)}));
    }
    const auto bytes = fs::file_size(Path());
    for (std::uintmax_t page = 1; page < bytes / 4096; ++page) Flip(Path(), page * 4096 + 99);
    EXPECT_TRUE(IsTold(20));
}

TEST_F(DamageTest, AKilledWriterLosesNothing) {
    MakeKilled(30);
    const auto backend = Open();
    for (std::uint32_t i = 1; i <= 30; ++i) EXPECT_EQ(Load(*backend, {Id(i)}).size(), 1U) << i;
}

// A damaged frame ends SQLite's recovery: all commits behind it would be gone.
TEST_F(DamageTest, AFlippedBitOfTheLogIsTold) {
    MakeKilled(10);
    const std::string copy = LogPath() + ".copy";
    fs::copy_file(LogPath(), copy);
    std::uintmax_t used = 0;  // bytes of the log that count; the rest are zeros
    {
        std::ifstream file(copy, std::ios::binary);
        const std::string all(std::istreambuf_iterator<char>(file), {});
        used = all.find_last_not_of('\0') + 1;
    }
    int told = 0;
    int tried = 0;
    for (std::uintmax_t at = 5; at < used; at += 4'111) {
        Flip(LogPath(), at);
        const auto opened = OpenSqlite(Options());
        ++tried;
        if (!opened && opened.error().code == Code::kDataLoss) ++told;
        ASSERT_FALSE(opened) << at << " of " << used;
        fs::copy_file(copy, LogPath(), fs::copy_options::overwrite_existing);
    }
    EXPECT_EQ(told, tried);
    const auto backend = Open();
    EXPECT_EQ(Load(*backend, {Id(10)}).size(), 1U) << "the copy is whole";
}

TEST_F(DamageTest, ALogThatIsCutIsTold) {
    MakeKilled(10);
    const auto bytes = static_cast<std::uintmax_t>(kLogHeaderBytes + 3 * kFrameBytes);
    fs::resize_file(LogPath(), bytes);
    ExpectRefused("was cut");
    EXPECT_EQ(fs::file_size(LogPath()), bytes) << "and kept";
}

TEST_F(DamageTest, ALogThatVanishedWhileStoppedIsTold) {
    MakeKilled(10);
    fs::remove(LogPath());
    ExpectRefused("is gone");
    std::ofstream(LogPath()) << "";
    ExpectRefused("is gone");
}

TEST_F(DamageTest, AnotherProgramMayCopyTheLog) {
    MakeKilled(10);
    OpenAndCloseElsewhere();
    ASSERT_FALSE(fs::exists(LogPath())) << "the close has deleted it";
    const auto backend = Open();
    EXPECT_EQ(Load(*backend, {Id(10)}).size(), 1U);
}

// The process was killed before it had marked a commit as durable.
TEST_F(DamageTest, AnotherProgramMayCopyALogWithoutAMark) {
    MakeKilled(0);
    OpenAndCloseElsewhere();
    const auto backend = Open();
    ASSERT_NE(backend, nullptr);
    EXPECT_TRUE(Insert(*backend, {MakeRun(1)}));
}

TEST_F(DamageTest, ALogThatVanishesWhileTheServerRunsStopsTheWriter) {
    {
        const auto backend = Open();
        ASSERT_TRUE(Insert(*backend, {MakeRun(1)}));
        fs::remove(LogPath());
        const auto refused = Insert(*backend, {MakeRun(2)});
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, Code::kDataLoss);
        EXPECT_NE(refused.error().message.find("-wal was deleted"), std::string::npos);
        EXPECT_FALSE(Insert(*backend, {MakeRun(2)}));
    }
    const auto backend = Open();
    ASSERT_NE(backend, nullptr);
    EXPECT_EQ(Load(*backend, {Id(1)}).size(), 1U) << "what was acknowledged is in the database";
}

TEST_F(DamageTest, ADatabaseCutInHalfStopsTheWriterAndIsKept) {
    MakeClosed(40);
    const auto bytes = fs::file_size(Path());
    {
        const auto backend = Open();
        ASSERT_TRUE(Insert(*backend, {MakeRun(100)}));
        fs::resize_file(Path(), bytes / 2);
        const auto refused = Insert(*backend, {MakeRun(101)});
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, Code::kDataLoss);
        EXPECT_NE(refused.error().message.find("was cut"), std::string::npos)
            << refused.error().message;
    }
    EXPECT_EQ(fs::file_size(Path()), bytes / 2) << "nothing is written into the copy";
    EXPECT_TRUE(fs::exists(LogPath()));
    ExpectRefused("was cut");
}

TEST_F(DamageTest, ADatabaseThatWasDeletedIsTold) {
    MakeClosed(3);
    fs::remove(Path());
    ExpectRefused("was cut");
    EXPECT_FALSE(fs::exists(Path()) && fs::file_size(Path()) > 0);
    fs::remove(Path() + "-sums");
    EXPECT_TRUE(OpenSqlite(Options())) << "who deletes both begins anew";
}

}  // namespace
}  // namespace ksana::store_sqlite
