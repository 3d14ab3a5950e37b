#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>

#include "ksana/base/log/log.hpp"
#include "ksana/base/time/fake_clock.hpp"
#include "ksana/codec/records/log_line.hpp"
#include "ksana/codec/records/record_codec.hpp"
#include "ksana/store_json/durable_file.hpp"
#include "ksana/store_json/open_json.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "support/temporary_folder.hpp"

namespace {

std::atomic<bool> folder_sync_fails = false;

}  // namespace

// Calls the system's fsync, except that it fails for folders while a test asks for that.
extern "C" int fsync(int descriptor) {
    struct stat status {};
    if (folder_sync_fails && ::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
        errno = EIO;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

namespace ksana::store_json {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class JsonFilesTest : public ::testing::Test {
  protected:
    using Run = model::Run;

    JsonFilesTest() {
        SetLogSinkForTest([this](LogLevel level, std::string_view line) {
            if (level >= LogLevel::kWarn) logged_ += std::string(line) + "\n";
        });
    }
    ~JsonFilesTest() override {
        SetLogSinkForTest(nullptr);
        folder_sync_fails = false;
    }

    Result<std::unique_ptr<store::Store>> Open() {
        KSANA_TRY(auto backend, OpenJson({.path = path_,
                                          .clock = clock_,
                                          .ids = ids_,
                                          .small_log = small_log_,
                                          .accept_damage = accept_damage_,
                                          .on_jobs_written = [this] { ++writes_; }}));
        return store_kit::MakeStore(std::move(backend), ids_);
    }

    model::Job MakeJob(const std::string& id) {
        model::Job job;
        job.id = id;
        job.name = "ping " + id;
        job.action = model::HttpAction{.url = "https://example.com/ping"};
        job.schedule.kind = schedule::ScheduleKind::kEvery;
        job.schedule.every = minutes(5);
        job.timeout = seconds(10);
        job.retry = model::RetryPolicy{};
        job.state.next_run_at = clock_.Now() + minutes(5);
        return job;
    }
    static void Create(store::Store& store, model::Job job) {
        auto written = store.jobs().Write({.writes = {{.job = std::move(job)}}});
        ASSERT_TRUE(written && written->at(0));
    }

    test::TemporaryFolder folder_;
    std::string path_ = folder_.File("jobs.json");
    std::string log_path_ = folder_.File("jobs.runs.jsonl");
    FakeClock clock_;
    SystemRandom random_;
    UuidGenerator ids_{clock_, random_};
    bool accept_damage_ = false;
    std::int64_t small_log_ = 1 << 20;
    std::atomic<int> writes_ = 0;
    std::string logged_;
};

// The server is killed after it wrote the log and before it wrote jobs.json. The deletion was not
// acknowledged, so the job continues as it was, and not as a new job that does not know its fires.
TEST_F(JsonFilesTest, AJobWhoseDeletionWasCutShortGoesOnAsItWas) {
    const TimePoint made = clock_.Now();
    std::string before;
    {
        auto store = Open();
        ASSERT_TRUE(store);
        Create(**store, MakeJob("j"));
        before = *ReadWholeFile(path_);
        clock_.Advance(minutes(3));
        ASSERT_TRUE((*store)->jobs().Delete({.now = {}, .id = "j", .expected_version = {}}));
    }
    std::ofstream(path_) << before;
    clock_.Advance(minutes(3));
    auto store = Open();
    ASSERT_TRUE(store);
    const auto job = (*store)->jobs().Get("j");
    ASSERT_TRUE(job);
    EXPECT_EQ(job->state.created_at, made);
    EXPECT_EQ(job->state.version, 1);
}

// K-11: version, updated_at and jobs, each job with the documented members and no others.
TEST_F(JsonFilesTest, TheFileHasTheDocumentedShape) {
    {
        auto store = Open();
        ASSERT_TRUE(store);
        Create(**store, MakeJob("uuid-1"));
    }
    EXPECT_EQ(*ReadWholeFile(path_), R"({
  "version": 1,
  "updated_at": "2026-01-01T00:00:00Z",
  "jobs": [
    {
      "id": "uuid-1",
      "name": "ping uuid-1",
      "enabled": true,
      "type": "http",
      "http": {
        "method": "GET",
        "url": "https://example.com/ping",
        "headers": {},
        "body": ""
      },
      "schedule": {
        "kind": "every",
        "every": "5m",
        "start_at": "",
        "jitter": "0s"
      },
      "timeout": "10s",
      "max_retries": 3,
      "retry_backoff": "5s",
      "last_run_at": "",
      "next_run_at": "2026-01-01T00:05:00Z",
      "last_status": "",
      "last_error": ""
    }
  ]
}
)");
}

// K-12
TEST_F(JsonFilesTest, AnUnreadableFileIsSetAside) {
    for (const char* aside : {"jobs.bad.json", "jobs.bad.1.json"}) {
        std::ofstream(path_) << "{\"version\": 1, \"jobs\": [ oops";
        logged_.clear();
        auto store = Open();
        ASSERT_TRUE(store) << store.error().Describe();
        EXPECT_EQ(*(*store)->jobs().Count({}, 10), 0);
        EXPECT_NE(ReadWholeFile(folder_.File(aside))->find("oops"), std::string::npos);
        EXPECT_NE(ReadWholeFile(path_)->find("\"jobs\": []"), std::string::npos);
        EXPECT_NE(logged_.find(aside), std::string::npos) << "and the log says so";
    }
}

TEST_F(JsonFilesTest, PeopleMayEditIt) {
    {
        auto store = Open();
        Create(**store, MakeJob("a"));
        Create(**store, MakeJob("b"));
    }
    std::string text = *ReadWholeFile(path_);
    text.replace(text.find("ping a"), 6, "PING A");
    text.insert(text.find('['), "");
    text.insert(text.find("    {\n      \"id\": \"b\""),
                R"({"name":"new","http":{"url":"http://x/"},
        "schedule":{"kind":"every","every":"1m"}},)");
    std::ofstream(path_) << text;
    auto store = Open();
    ASSERT_TRUE(store) << store.error().Describe();
    EXPECT_EQ(*(*store)->jobs().Count({}, 10), 3);
    EXPECT_EQ((*store)->jobs().Get("a")->name, "PING A");
    EXPECT_EQ((*store)->jobs().Get("a")->state.version, 2);
    EXPECT_EQ((*store)->jobs().Get("b")->state.version, 1);
    auto found = (*store)->jobs().List({.filter = {.text = "new"}});
    ASSERT_EQ(found->items.size(), 1U);
    EXPECT_FALSE(found->items[0].id.empty()) << "an id is drawn";
}

TEST_F(JsonFilesTest, TheSameIdTwiceIsRefused) {
    const std::string job = R"({"id":"a","name":"x","http":{"url":"http://x/"},
        "schedule":{"kind":"every","every":"1m"}})";
    std::ofstream(path_) << R"({"version":1,"updated_at":"2026-01-01T00:00:00Z","jobs":[)" << job
                         << "," << job << "]}";
    auto store = Open();
    ASSERT_FALSE(store);
    EXPECT_NE(store.error().message.find("/jobs/1/id"), std::string::npos);
    EXPECT_TRUE(std::filesystem::exists(path_)) << "nothing is thrown away";
}

// The log is cut at any place: every transaction with its commit mark counts, the torn one does
// not.
TEST_F(JsonFilesTest, ATornLogLosesOnlyWhatWasNotAcknowledged) {
    std::vector<std::int64_t> sizes;
    {
        auto store = Open();
        for (int i = 0; i < 5; ++i) {
            Run run;
            run.id = ids_.Next();
            ASSERT_TRUE((*store)->runs().Submit({.runs = {run, Run{.id = ids_.Next()}}}));
            sizes.push_back(static_cast<std::int64_t>(std::filesystem::file_size(log_path_)));
        }
    }
    const std::string whole = *ReadWholeFile(log_path_);
    for (std::size_t length = 0; length <= whole.size(); length += 7) {
        std::ofstream(log_path_, std::ios::trunc) << whole.substr(0, length);
        auto store = Open();
        ASSERT_TRUE(store) << store.error().Describe();
        const auto marks = std::ranges::count_if(
            sizes, [&](std::int64_t size) { return size <= static_cast<std::int64_t>(length); });
        EXPECT_EQ(*(*store)->runs().Count({}, 100), 2 * marks) << length;
        ASSERT_TRUE((*store)->runs().Submit({.runs = {Run{.id = ids_.Next()}}}));
        store = Error();
        store = Open();
        EXPECT_EQ(*(*store)->runs().Count({}, 100), 2 * marks + 1) << length;
    }
}

// M05: whichever bit it is, it is told, and the only copy is not overwritten. jobs.json is for
// people to edit and has no checksum.
TEST_F(JsonFilesTest, AFlippedBitOfTheLogIsTold) {
    {
        auto store = Open();
        for (int i = 0; i < 3; ++i) {
            ASSERT_TRUE((*store)->runs().Submit({.runs = {Run{.id = ids_.Next()}}}));
        }
    }
    const std::string whole = *ReadWholeFile(log_path_);
    for (std::size_t at = 0; at + 1 < whole.size(); at += 5) {
        std::string text = whole;
        text[at] = static_cast<char>(text[at] ^ 0x10);
        std::ofstream(log_path_, std::ios::trunc) << text;
        const auto store = Open();
        ASSERT_FALSE(store) << at << ": " << text.substr(at, 20);
        EXPECT_EQ(store.error().code, Code::kDataLoss) << store.error().message;
        EXPECT_NE(store.error().message.find(log_path_), std::string::npos);
        EXPECT_EQ(*ReadWholeFile(log_path_), text);
    }
    std::ofstream(log_path_, std::ios::trunc) << whole;
    EXPECT_EQ(*(*Open())->runs().Count({}, 100), 3);
}

// Who accepts the damage keeps the rest, and a copy.
TEST_F(JsonFilesTest, ABadLineInTheMiddleCostsOnlyItself) {
    {
        auto store = Open();
        for (int i = 0; i < 3; ++i) {
            ASSERT_TRUE((*store)->runs().Submit({.runs = {Run{.id = ids_.Next()}}}));
        }
    }
    std::string text = *ReadWholeFile(log_path_);
    text[text.find("run")] = 'X';
    std::ofstream(log_path_, std::ios::trunc) << text;
    EXPECT_EQ(Open().error().code, Code::kDataLoss);
    accept_damage_ = true;
    {
        auto store = Open();
        ASSERT_TRUE(store);
        EXPECT_EQ(*(*store)->runs().Count({}, 100), 2);
    }
    accept_damage_ = false;
    EXPECT_NE(logged_.find("jobs.runs.bad.jsonl"), std::string::npos);
    EXPECT_EQ(*ReadWholeFile(folder_.File("jobs.runs.bad.jsonl")), text) << "a copy is kept";
    EXPECT_EQ(*(*Open())->runs().Count({}, 100), 2);
}

// Only the last line of a row is read, unless that line does not count or cannot be read.
TEST_F(JsonFilesTest, OfARowTheLastLineThatCountsIsTaken) {
    const Run run{.id = ids_.Next()};
    {
        auto store = Open();
        ASSERT_TRUE((*store)->runs().Submit({.runs = {run}}));
        ASSERT_EQ((*store)->runs().Claim({.owner = "w", .limit = 1})->runs.size(), 1U);
    }
    const std::string whole = *ReadWholeFile(log_path_);
    const std::size_t second = whole.rfind("{\"run\"");
    ASSERT_GT(second, whole.find("{\"run\"")) << "a line when it came, one when it was claimed";
    std::string damaged = whole;
    damaged[whole.find("running", second)] = '"';
    const std::string without_mark = whole.substr(0, whole.rfind("{\"commit\""));
    accept_damage_ = true;  // without it the damaged line is refused by its checksum
    for (const auto& [text, state] :
         {std::pair(whole, model::RunState::kRunning), std::pair(damaged, model::RunState::kQueued),
          std::pair(without_mark, model::RunState::kQueued)}) {
        std::ofstream(log_path_, std::ios::trunc) << text;
        auto store = Open();
        ASSERT_TRUE(store) << store.error().Describe();
        const auto found = (*store)->runs().Get(run.id);
        ASSERT_TRUE(found) << text;
        EXPECT_EQ(found->run.status.state, state) << text;
    }
}

// Runs that no store writes, in a log that a user has edited: they never expire and are not purged.
TEST_F(JsonFilesTest, RunsWithoutTheirTimesDoNoHarm) {
    Run running{.id = ids_.Next()};
    running.status.state = model::RunState::kRunning;
    running.status.owner = "w";
    Run ended{.id = ids_.Next()};
    ended.status.state = model::RunState::kSucceeded;
    std::ofstream(log_path_) << codec::RecordToLine(running) << "\n"
                             << codec::RecordToLine(ended) << "\n"
                             << codec::CommitToLine({1}) << "\n";
    auto store = Open();
    ASSERT_TRUE(store) << store.error().Describe();
    EXPECT_EQ(*(*store)->runs().Count({}, 10), 2);
    EXPECT_EQ(*(*store)->runs().Purge({.finished_before = clock_.Now()}), 0U);
    EXPECT_TRUE((*store)->runs().Reap({})->runs.empty());
    EXPECT_EQ((*store)->runs().Reap({.lost_owners = {"w"}})->runs.size(), 1U);
}

// The log is rewritten when most of it describes rows that no longer exist.
TEST_F(JsonFilesTest, TheLogIsCompacted) {
    auto store = Open();
    const std::string big(10'000, 'x');
    for (int i = 0; i < 600; ++i) {
        ASSERT_TRUE((*store)->settings().Put({.key = "k", .value = big}));
    }
    ASSERT_TRUE((*store)->settings().Put({.key = "last", .value = "1"}));
    store = Error();
    EXPECT_LT(std::filesystem::file_size(log_path_), 3'000'000U);
    EXPECT_EQ((*Open())->settings().Get("k")->version, 600);
}

// Readers continue after the last number that they have seen, so no number is given twice.
TEST_F(JsonFilesTest, NumbersOfEventsGoOnAfterAllWerePurgedAndTheLogCompacted) {
    small_log_ = 3'000;
    auto store = Open();
    ASSERT_TRUE((*store)->events().Append({{}, {}, {}}));
    ASSERT_EQ(*(*store)->events().Purge(clock_.Now() + minutes(1), 10), 3U);
    const std::string big(10'000, 'x');
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE((*store)->settings().Put({.key = "k", .value = big}));
    }
    store = Error();
    ASSERT_LT(std::filesystem::file_size(log_path_), 100'000U) << "it was compacted";
    store = Open();
    ASSERT_TRUE((*store)->events().Append({{}}));
    EXPECT_EQ((*store)->events().List({})->items.at(0).seq, 4);
}

// Even if the server runs only briefly each time, so that no run of it lets the log grow fourfold.
TEST_F(JsonFilesTest, TheLogIsCompactedOverManyStarts) {
    const std::string big(10'000, 'x');
    for (int start = 0; start < 30; ++start) {
        auto store = Open();
        for (int i = 0; i < 20; ++i) {
            ASSERT_TRUE((*store)->settings().Put({.key = "k", .value = big}));
        }
    }
    EXPECT_LT(std::filesystem::file_size(log_path_), 1'500'000U);
    EXPECT_EQ((*Open())->settings().Get("k")->version, 600);
}

// The new log has the name, but a crash could bring the old one back. Nothing is acknowledged until
// that is impossible, and nothing is appended to the old log, which has no name any more.
TEST_F(JsonFilesTest, ACompactedLogCountsOnlyOnceItsNameIsSure) {
    small_log_ = 3'000;
    auto store = Open();
    const auto put = [&](const std::string& key) {
        return (*store)->settings().Put({.key = key, .value = std::string(1'000, 'x')});
    };
    folder_sync_fails = true;
    int kept = 0;
    while (kept < 50 && put(std::to_string(kept))) ++kept;
    EXPECT_GE(kept, 3);
    ASSERT_LT(kept, 50) << "the log was written anew, and its folder could not be synced";
    EXPECT_EQ(put("refused").error().code, Code::kUnavailable);
    EXPECT_EQ((*store)->settings().Get("refused").error().code, Code::kNotFound);
    folder_sync_fails = false;
    EXPECT_TRUE(put("later"));
    store = Error();
    store = Open();
    for (int i = 0; i < kept; ++i) EXPECT_TRUE((*store)->settings().Get(std::to_string(i))) << i;
    EXPECT_TRUE((*store)->settings().Get("later"));
    EXPECT_FALSE((*store)->settings().Get("refused"));
}

// jobs.json has the new text, but its folder could not be synced. The change is refused and is
// absent after a restart, whether or not anything else was written in between.
TEST_F(JsonFilesTest, ARefusedJobDoesNotComeBack) {
    for (const bool goes_on : {true, false}) {
        auto store = Open();
        if (goes_on) Create(**store, MakeJob("a"));
        folder_sync_fails = true;
        EXPECT_FALSE((*store)->jobs().Write({.writes = {{.job = MakeJob("b")}}}));
        EXPECT_EQ((*store)->jobs().Get("b").error().code, Code::kNotFound);
        EXPECT_FALSE((*store)->settings().Put({.key = "k", .value = "1"}))
            << "nothing is acknowledged while jobs.json is not what it should be";
        folder_sync_fails = false;
        if (goes_on) {
            EXPECT_TRUE((*store)->settings().Put({.key = "k", .value = "1"}));
            EXPECT_EQ(ReadWholeFile(path_)->find("ping b"), std::string::npos);
        }
        store = Error();
        store = Open();
        EXPECT_TRUE((*store)->jobs().Get("a"));
        EXPECT_FALSE((*store)->jobs().Get("b"));
        EXPECT_EQ((*store)->settings().Get("k")->version, 1);
    }
}

TEST_F(JsonFilesTest, ASecondProcessIsRefused) {
    auto first = Open();
    ASSERT_TRUE(first);
    auto second = Open();
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::kUnavailable);
    EXPECT_NE(second.error().message.find("in use"), std::string::npos);
}

// A burst of changes costs few writes: 1,000 updates from 16 threads cost at most 100.
TEST_F(JsonFilesTest, ABurstCostsFewWrites) {
    auto store = Open();
    std::vector<store::JobWrite> writes;
    for (int i = 0; i < 1'000; ++i) writes.push_back({.job = MakeJob(std::to_string(i))});
    ASSERT_TRUE((*store)->jobs().Write({.writes = std::move(writes)}));
    writes_ = 0;
    std::atomic<int> next = 0;
    std::vector<std::jthread> threads;
    for (int t = 0; t < 16; ++t) {
        threads.emplace_back([&] {
            for (int i = next++; i < 1'000; i = next++) {
                model::Job job = MakeJob(std::to_string(i));
                job.name = "renamed";
                auto written = (*store)->jobs().Write(
                    {.writes = {{.job = job, .mode = store::WriteMode::kReplace}}});
                ASSERT_TRUE(written && written->at(0));
            }
        });
    }
    threads.clear();
    EXPECT_LE(writes_, 100);
    EXPECT_GE(writes_, 1'000 / 16);
}

}  // namespace
}  // namespace ksana::store_json
