#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "apps/ksana/commands.hpp"
#include "ksana/base/log/log.hpp"
#include "ksana/base/time/fake_clock.hpp"
#include "ksana/server/open_store.hpp"
#include "support/temporary_folder.hpp"

namespace ksana::app {
namespace {

class StoreCommandsTest : public ::testing::Test {
  protected:
    StoreCommandsTest() {
        SetLogSinkForTest([](LogLevel, std::string_view) {});
    }
    ~StoreCommandsTest() override {
        SetLogSinkForTest({});
        (void)std::fclose(process_.in);
        (void)std::fclose(process_.out);
    }

    int Run(const std::vector<std::string>& tokens) {
        output_ = {};
        return RunCommandLine(AllCommands(process_), tokens, output_);
    }
    bool Says(std::string_view text) const { return output_.err.find(text) != std::string::npos; }

    // Fills a store with a job, a run and a setting.
    void Fill(const std::string& url) {
        auto store = server::OpenStore(server::ParseStoreUrl(url).value(), {clock_, random_, ids_},
                                       server::OpenMode::kReadWrite);
        ASSERT_TRUE(store) << store.error().Describe();
        model::Job job;
        job.id = "j1";
        job.name = "日报";
        job.action = model::HttpAction{.url = "http://127.0.0.1/"};
        job.schedule.kind = schedule::ScheduleKind::kEvery;
        job.schedule.every = std::chrono::minutes(1);
        model::Run run;
        run.id = ids_.Next();
        run.payload = "1";
        ASSERT_TRUE((*store)->records().Add(
            {job, run, model::Document{.kind = "setting", .key = "k", .body = "1"}}));
    }

    static std::string Read(const std::string& path) {
        std::ostringstream text;
        text << std::ifstream(path, std::ios::binary).rdbuf();
        return text.str();
    }
    static void Write(const std::string& path, const std::string& text) {
        std::ofstream(path, std::ios::binary) << text;
    }
    // Returns an export without its header line.
    static std::string Records(const std::string& path) {
        const std::string text = Read(path);
        return text.substr(text.find('\n'));
    }
    std::string Out() {
        std::string text(1 << 20, '\0');
        std::rewind(process_.out);
        text.resize(std::fread(text.data(), 1, text.size(), process_.out));
        return text;
    }

    test::TemporaryFolder folder_;
    FakeClock clock_;
    SystemRandom random_;
    UuidGenerator ids_{clock_, random_};
    Process process_{clock_, random_, ids_, {}, std::tmpfile(), std::tmpfile(), {}};
    Output output_;
    std::string json_ = "json:" + folder_.File("jobs.json");
    std::string sqlite_ = "sqlite:" + folder_.File("k.db");
    std::string file_ = folder_.File("all.jsonl");
};

TEST_F(StoreCommandsTest, AnInstallMovesFromStoreToStore) {
    Fill(json_);
    ASSERT_EQ(Run({"export", "--store", json_, "-o", file_}), 0) << output_.err;
    EXPECT_EQ(output_.out, "");
    EXPECT_TRUE(Says("exported 1 job, 1 run, 1 document to " + file_)) << output_.err;
    EXPECT_TRUE(
        Read(file_).starts_with(R"({"ksana_export":1,"at":"2026-01-01T00:00:00Z","store":"json:)"));
    const auto mode = std::filesystem::status(file_).permissions();
    EXPECT_EQ(mode & std::filesystem::perms::others_read, std::filesystem::perms::none);

    ASSERT_EQ(Run({"import", "--store", sqlite_, "--dry-run", file_}), 0) << output_.err;
    EXPECT_TRUE(Says("dry run: nothing stored; would import 1 job")) << output_.err;
    EXPECT_FALSE(std::filesystem::exists(folder_.File("k.db")));
    ASSERT_EQ(Run({"import", "--store", sqlite_, file_}), 0) << output_.err;
    EXPECT_TRUE(Says("imported 1 job, 1 run, 1 document, exported from json:")) << output_.err;

    EXPECT_EQ(Run({"import", "--store", sqlite_, file_}), 5);
    EXPECT_TRUE(Says("the store is not empty")) << output_.err;
    EXPECT_EQ(Run({"import", "--dry-run", "--store", sqlite_, file_}), 5);

    process_.environment["KSANA_STORE"] = sqlite_;
    ASSERT_EQ(Run({"export"}), 0) << output_.err;
    Write(folder_.File("again.jsonl"), Out());
    EXPECT_EQ(Records(folder_.File("again.jsonl")), Records(file_));
}

TEST_F(StoreCommandsTest, StandardInputIsReadOnce) {
    Fill(json_);
    ASSERT_EQ(Run({"export", "--store", json_}), 0) << output_.err;
    const std::string text = Out();
    (void)std::fwrite(text.data(), 1, text.size(), process_.in);
    std::rewind(process_.in);
    ASSERT_EQ(Run({"import", "--store", sqlite_, "-"}), 0) << output_.err;
}

TEST_F(StoreCommandsTest, AFileIsNotOverwrittenByAccident) {
    Fill(json_);
    Write(file_, "precious");
    EXPECT_EQ(Run({"export", "--store", json_, "-o", file_}), 5);
    EXPECT_TRUE(Says("--force")) << output_.err;
    EXPECT_EQ(Read(file_), "precious");
    EXPECT_EQ(Run({"export", "--store", json_, "--force", "-o", file_}), 0) << output_.err;
    EXPECT_NE(Read(file_), "precious");
    EXPECT_EQ(Run({"export", "--store", json_, "--force", "-o", folder_.path()}), 2);
    EXPECT_EQ(Run({"export", "--store", json_, "-o", folder_.File("no/such/folder")}), 3);
    EXPECT_EQ(Run({"export", "--store", "json:" + folder_.File("none.json"), "-o", file_}), 3);
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
        EXPECT_FALSE(entry.path().filename().string().starts_with("all.jsonl.")) << entry.path();
    }
}

TEST_F(StoreCommandsTest, AWrongFileLeavesTheStoreAlone) {
    Fill(json_);
    ASSERT_EQ(Run({"export", "--store", json_, "-o", file_}), 0);
    const std::string whole = Read(file_);
    for (const std::size_t size : {whole.size() - 2, whole.size() - 100, std::size_t{0}}) {
        Write(file_, whole.substr(0, size));
        EXPECT_EQ(Run({"import", "--store", sqlite_, file_}), 2) << output_.err;
        EXPECT_TRUE(Says("line ")) << output_.err;
        EXPECT_FALSE(std::filesystem::exists(folder_.File("k.db")));
    }
    EXPECT_EQ(Run({"import", "--store", sqlite_, folder_.File("none")}), 3);
    EXPECT_EQ(Run({"import", "--store", sqlite_}), kExitUsage);
}

TEST_F(StoreCommandsTest, MigrateTellsWhatItDid) {
    EXPECT_EQ(Run({"migrate", "--status", "--store", sqlite_}), 3) << "there is none";
    ASSERT_EQ(Run({"migrate", "--store", sqlite_}), 0) << output_.err;
    EXPECT_TRUE(output_.out.starts_with("   1  applied   initial\n")) << output_.out;
    ASSERT_EQ(Run({"migrate", "--store", sqlite_}), 0) << output_.err;
    EXPECT_TRUE(output_.out.starts_with(sqlite_ + ": schema version ")) << output_.out;
    ASSERT_EQ(Run({"migrate", "--status", "-o", "json", "--store", sqlite_}), 0) << output_.err;
    EXPECT_NE(output_.out.find("\"pending\": false"), std::string::npos) << output_.out;
    ASSERT_EQ(Run({"migrate", "--store", json_}), 0) << output_.err;
    EXPECT_EQ(output_.out, json_ + " has no schema: nothing to migrate\n");
    // An empty file is a database with no migration applied.
    Write(folder_.File("old.db"), "");
    EXPECT_EQ(Run({"migrate", "--status", "--store", "sqlite:" + folder_.File("old.db")}),
              kExitPending)
        << output_.err;
    EXPECT_NE(output_.out.find("pending   initial"), std::string::npos) << output_.out;
}

TEST_F(StoreCommandsTest, AWrongUrlSaysWhereItCameFrom) {
    EXPECT_EQ(Run({"export", "--store", "sqlit:x"}), 2);
    EXPECT_TRUE(Says("--store: there is no store \"sqlit\" (did you mean sqlite?)")) << output_.err;
    process_.environment["KSANA_STORE"] = "mysql:x";
    EXPECT_EQ(Run({"migrate"}), 2);
    EXPECT_TRUE(Says("KSANA_STORE: there is no store")) << output_.err;
}

// The commands use the same file as a server with these settings.
TEST_F(StoreCommandsTest, BareWordsAreInTheDataFolderOfTheSettings) {
    const std::string data = folder_.File("data");
    process_.environment["DATA_DIR"] = data;
    ASSERT_EQ(Run({"migrate"}), 0) << output_.err;
    EXPECT_TRUE(std::filesystem::exists(data + "/ksana.db"));
    Fill("json:" + data + "/jobs.json");
    ASSERT_EQ(Run({"export", "--store", "json", "-o", file_}), 0) << output_.err;
    EXPECT_TRUE(Says("1 job")) << output_.err;
    ASSERT_EQ(Run({"import", file_}), 0) << output_.err;
    EXPECT_EQ(Run({"import", "--store", "sqlite:" + data + "/ksana.db", file_}), 5)
        << "it is there already";
    process_.environment["KSANA_STORE"] = "json";
    EXPECT_EQ(Run({"import", file_}), 5);
    process_.environment["KSANA_DATA"] = folder_.File("stronger");
    EXPECT_EQ(Run({"export", "-o", file_, "--force"}), 3) << "there is none";
    process_.environment["KSANA_DATA_DIR"] = data;
    EXPECT_EQ(Run({"export", "-o", file_, "--force"}), 2);
    EXPECT_TRUE(Says("KSANA_DATA_DIR and KSANA_DATA")) << output_.err;
    EXPECT_EQ(Run({"export", "--store", "json:" + data + "/jobs.json", "-o", file_, "--force"}), 0)
        << "a whole URL needs no settings: " << output_.err;
}

TEST_F(StoreCommandsTest, SettingsInAFileCount) {
    const std::string config = folder_.File("ksana.toml");
    const std::string data = folder_.File("by_file");
    Write(config, "data_dir = \"" + data + "\"\nstore = \"json\"\nworkers = 0\n");
    process_.environment["KSANA_CONFIG"] = config;
    Fill("json:" + data + "/jobs.json");
    EXPECT_EQ(Run({"export", "-o", file_}), 0) << "workers are of no concern: " << output_.err;
    Write(config, "data_dri = \"" + data + "\"\n");
    EXPECT_EQ(Run({"export", "-o", file_, "--force"}), 2);
    EXPECT_TRUE(Says("did you mean data_dir?")) << output_.err;
}

TEST_F(StoreCommandsTest, ProgressIsShownOnlyToWhoWatches) {
    Fill(json_);
    std::vector<std::string> shown;
    process_.redraw = [&](std::string_view line) { shown.emplace_back(line); };
    ASSERT_EQ(Run({"export", "--store", json_, "-o", file_}), 0);
    ASSERT_EQ(shown.size(), 2U) << "the clock stands still: one line, and its end";
    EXPECT_TRUE(shown[0].starts_with("exported "));
    EXPECT_EQ(shown[1], "");
}

}  // namespace
}  // namespace ksana::app
