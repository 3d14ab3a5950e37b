#include "ksana/server/open_store.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "ksana/base/time/fake_clock.hpp"
#include "support/temporary_folder.hpp"

namespace ksana::server {
namespace {

class OpenStoreTest : public ::testing::Test {
  protected:
    Result<std::unique_ptr<store::Store>> Open(const StoreUrl& url,
                                               OpenMode mode = OpenMode::kReadWrite) {
        return OpenStore(url, environment_, mode);
    }

    test::TemporaryFolder folder_;
    FakeClock clock_;
    SystemRandom random_;
    UuidGenerator ids_{clock_, random_};
    StoreEnvironment environment_{clock_, random_, ids_};
    StoreUrl sqlite_{StoreKind::kSqlite, folder_.File("new/folder/k.db")};
    StoreUrl json_{StoreKind::kJson, folder_.File("other/jobs.json")};
    StoreUrl memory_{StoreKind::kMemory, ""};
};

TEST_F(OpenStoreTest, EachKindOpensItsDriver) {
    for (const auto& [url, driver] :
         {std::pair{sqlite_, "sqlite"}, {json_, "json"}, {memory_, "memory"}}) {
        auto store = Open(url);
        ASSERT_TRUE(store) << store.error().Describe();
        EXPECT_EQ((*store)->Info().value().driver, driver);
    }
}

TEST_F(OpenStoreTest, ReadingMakesNoStore) {
    for (const StoreUrl& url : {sqlite_, json_}) {
        const auto store = Open(url, OpenMode::kReadOnly);
        ASSERT_FALSE(store);
        EXPECT_EQ(store.error().code, Code::kNotFound) << store.error().message;
        const auto folder = std::filesystem::path(url.location).parent_path();
        EXPECT_FALSE(std::filesystem::exists(folder)) << folder;
    }
    ASSERT_TRUE(Open(sqlite_));
    ASSERT_TRUE(Open(json_));
    EXPECT_TRUE(Open(sqlite_, OpenMode::kReadOnly));
    EXPECT_TRUE(Open(json_, OpenMode::kReadOnly));
}

// K-12 is for writers: a backup of an unreadable store must fail, not succeed with an empty one.
TEST_F(OpenStoreTest, ReadingDoesNotSetAsideWhatCannotBeRead) {
    ASSERT_TRUE(Open(json_));
    std::ofstream(json_.location) << "{\"jobs\": [";
    const auto store = Open(json_, OpenMode::kReadOnly);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Code::kInvalidArgument) << store.error().message;
    EXPECT_TRUE(std::filesystem::exists(json_.location));
    EXPECT_FALSE(std::filesystem::exists(folder_.File("other/jobs.bad.json")));
}

TEST_F(OpenStoreTest, OneWriterAtATime) {
    for (const StoreUrl& url : {sqlite_, json_}) {
        const auto first = Open(url);
        ASSERT_TRUE(first);
        const auto second = Open(url);
        ASSERT_FALSE(second);
        EXPECT_EQ(second.error().code, Code::kUnavailable);
    }
}

TEST_F(OpenStoreTest, SqliteIsReadBesideItsWriter) {
    const auto writer = Open(sqlite_);
    ASSERT_TRUE(writer);
    ASSERT_TRUE((*writer)->settings().Put({.key = "k", .value = "1"}));
    const auto reader = Open(sqlite_, OpenMode::kReadOnly);
    ASSERT_TRUE(reader) << reader.error().Describe();
    EXPECT_EQ((*reader)->records().Counts().value().documents, 1);
    EXPECT_FALSE((*reader)->settings().Put({.key = "k", .value = "2"}));
}

TEST_F(OpenStoreTest, MigrationStatus) {
    const auto missing = MigrationStatusOf(sqlite_, environment_);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Code::kNotFound);
    ASSERT_TRUE(Open(sqlite_));
    const auto status = MigrationStatusOf(sqlite_, environment_);
    ASSERT_TRUE(status) << status.error().Describe();
    EXPECT_FALSE(status->Pending());
    EXPECT_FALSE(status->steps.empty());
    for (const StoreUrl& url : {json_, memory_}) {
        const auto none = MigrationStatusOf(url, environment_);
        ASSERT_TRUE(none);
        EXPECT_TRUE(none->steps.empty());
        EXPECT_FALSE(none->Pending());
    }
}

// Nothing listens on the port. Uses the real clock, because the driver waits for the connection
// attempt.
TEST_F(OpenStoreTest, APostgresThatDoesNotAnswerIsUnavailable) {
    const StoreUrl url{StoreKind::kPostgres, "postgresql://u:secret@127.0.0.1:1/db"};
    SystemClock clock;
    const StoreEnvironment environment{clock, random_, ids_};
    const auto status = MigrationStatusOf(url, environment);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Code::kUnavailable) << status.error().message;
    EXPECT_EQ(status.error().message.find("secret"), std::string::npos);
}

}  // namespace
}  // namespace ksana::server
