#include "ksana/store_json/durable_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "support/temporary_folder.hpp"

namespace ksana::store_json {
namespace {

// Simulates a full disk: files of this process cannot grow beyond a size while this object lives.
class FullDisk {
  public:
    explicit FullDisk(rlim_t bytes) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;
    ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before_); }

  private:
    rlimit before_{};
};

// K-11: the old text or the new one, and no file left beside it.
TEST(ReplaceFile, KeepsTheOldTextWhenTheDiskIsFull) {
    const test::TemporaryFolder folder;
    const std::string path = folder.File("jobs.json");
    ASSERT_TRUE(ReplaceFile(path, "old"));
    {
        const FullDisk full(1'000);
        const auto failed = ReplaceFile(path, std::string(5'000, 'x'));
        ASSERT_FALSE(failed);
        EXPECT_EQ(failed.error().code, Code::kStorageFull);
    }
    EXPECT_EQ(*ReadWholeFile(path), "old");
    EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
    ASSERT_TRUE(ReplaceFile(path, "new"));
    EXPECT_EQ(*ReadWholeFile(path), "new");
    EXPECT_EQ(ReadWholeFile(folder.File("none")).error().code, Code::kNotFound);
}

// K-12: an earlier bad file is never overwritten.
TEST(SetAside, NeverOverwrites) {
    const test::TemporaryFolder folder;
    const std::string path = folder.File("jobs.json");
    for (const char* name : {"jobs.bad.json", "jobs.bad.1.json", "jobs.bad.2.json"}) {
        ASSERT_TRUE(ReplaceFile(path, name));
        EXPECT_EQ(*SetAside(path), folder.File(name));
        EXPECT_FALSE(std::filesystem::exists(path));
    }
    EXPECT_EQ(*ReadWholeFile(folder.File("jobs.bad.json")), "jobs.bad.json");
}

TEST(AppendFile, TakesBackWhatItCouldNotWrite) {
    const test::TemporaryFolder folder;
    const std::string path = folder.File("log");
    auto file = AppendFile::Open(path);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->Append("one\n"));
    {
        const FullDisk full(10);
        EXPECT_EQ(file->Append("much too long for it\n").error().code, Code::kStorageFull);
        EXPECT_EQ(*ReadWholeFile(path), "one\n");
    }
    ASSERT_TRUE(file->Append("two\n"));
    EXPECT_EQ(*ReadWholeFile(path), "one\ntwo\n");
    ASSERT_TRUE(file->CutTo(4));
    ASSERT_TRUE(file->Append("three\n"));
    EXPECT_EQ(*ReadWholeFile(path), "one\nthree\n");
    EXPECT_EQ(file->size(), 10);
}

}  // namespace
}  // namespace ksana::store_json
