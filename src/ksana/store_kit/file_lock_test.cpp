#include "ksana/store_kit/file_lock.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/temporary_folder.hpp"

namespace ksana::store_kit {
namespace {

namespace fs = std::filesystem;

class FileLockTest : public ::testing::Test {
  protected:
    Result<FileLock> Take(const std::string& path) {
        const std::string real = WithoutLink(path);
        return FileLock::Take(real, real);
    }
    static void ExpectInUse(const Result<FileLock>& lock) {
        ASSERT_FALSE(lock);
        EXPECT_EQ(lock.error().code, Code::kUnavailable);
        EXPECT_NE(lock.error().message.find("in use by another process"), std::string::npos);
    }

    test::TemporaryFolder folder_;
    const std::string path_ = folder_.File("ksana.db");
};

TEST_F(FileLockTest, OnlyOneHasIt) {
    {
        const auto first = Take(path_);
        ASSERT_TRUE(first);
        ExpectInUse(Take(path_));
    }
    EXPECT_TRUE(Take(path_)) << "it ends with its holder";
}

TEST_F(FileLockTest, DeletingTheLockFileHelpsNobody) {
    const auto first = Take(path_);
    fs::remove(path_ + ".lock");
    ExpectInUse(Take(path_));
}

TEST_F(FileLockTest, OtherNamesMeetTheSameLock) {
    const auto first = Take(path_);
    fs::create_symlink(path_, folder_.File("symbolic.db"));
    ExpectInUse(Take(folder_.File("symbolic.db")));
    fs::create_hard_link(path_, folder_.File("hard.db"));
    ExpectInUse(Take(folder_.File("hard.db")));
}

TEST_F(FileLockTest, FollowsAFileThatIsReplaced) {
    auto first = Take(path_);
    fs::remove(path_);
    ASSERT_TRUE(first->Follow());
    fs::remove(path_ + ".lock");
    ExpectInUse(Take(path_));
}

// Whatever the umask of the process.
TEST_F(FileLockTest, FilesAreOfTheirOwner) {
    const auto lock = Take(path_);
    for (const std::string& path : {path_, path_ + ".lock"}) {
        EXPECT_EQ(fs::status(path).permissions() & (fs::perms::group_all | fs::perms::others_all),
                  fs::perms::none)
            << path;
    }
}

}  // namespace
}  // namespace ksana::store_kit
