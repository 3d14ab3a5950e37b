// The jobs of a program over HTTP: N-19.

#include <fmt/core.h>

#include <thread>

#include "ksana/codec/json/json_tree.hpp"
#include "library/library_fixture.hpp"
#include "library/run_signal.hpp"
#include "support/raw_client.hpp"

namespace ksana::library {
namespace {

using namespace std::chrono_literals;
using codec::Json;

class AdminTest : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(scheduler_.Add({.id = "report", .cron = "0 3 * * *"}, [&](JobContext& context) {
            const auto day = context.parameters().find("day");
            if (day != context.parameters().end()) day_ = day->second;
            ran_.Note();
            if (day_ == "bad") throw std::runtime_error("no such day");
        }));
        ASSERT_TRUE(scheduler_.Add({.id = "beat",
                                    .fixed_rate = 1h,
                                    .initial_delay = 10min,
                                    .mode = ExecutionMode::kAllNodes},
                                   [](JobContext&) {}));
        const auto started = scheduler_.Start();
        ASSERT_TRUE(started) << started.error().Describe();
    }

    // Returns the body of the answer; null after an error, with its status in status_.
    Json Ask(std::string_view method, std::string_view path, std::string_view body = "") {
        auto json = Json::Parse(AskText(method, path, body));
        return json ? *json : Json();
    }

    std::string AskText(std::string_view method, std::string_view path,
                        std::string_view body = "") {
        ksana::testing::RawClient client(scheduler_.http_port());
        const auto answer =
            client.Ask(fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                                   "application/json\r\nContent-Length: {}\r\n\r\n{}",
                                   method, path, body.size(), body));
        status_ = answer.status;
        return answer.body;
    }

    // Waits until this node has read the limit of the group: that happens after the answer to its
    // PUT.
    void AwaitGroupLimit(const std::string& group) {
        const std::string line =
            fmt::format(R"(ksana_limit_in_use{{kind="group",name="{}"}})", group);
        const SystemClock clock;
        const SteadyPoint until = clock.SteadyNow() + 60s;
        while (AskText("GET", "/metrics").find(line) == std::string::npos) {
            ASSERT_LT(clock.SteadyNow(), until);
            std::this_thread::yield();
        }
    }

    LogLines log_;
    Context context_;
    Signal ran_;
    std::string day_;
    Scheduler scheduler_{context_, {.http = "127.0.0.1:0"}};
    int status_ = 0;
};

TEST_F(AdminTest, ShowsTheJobsFromMemory) {  // N-19
    const Json list = Ask("GET", "/admin/job/list");
    ASSERT_EQ(list.Items().size(), 2U);
    const Json beat = list.At("/0");
    EXPECT_EQ(beat.TextAt("/id"), "beat");
    EXPECT_EQ(beat.TextAt("/mode"), "ALL_NODES");
    EXPECT_EQ(beat.At("/schedule/fixedRate").Int(), 3'600'000);
    EXPECT_EQ(beat.At("/schedule/initialDelay").Int(), 600'000);
    EXPECT_TRUE(beat.At("/nextFireTime").Int());
    EXPECT_TRUE(beat.At("/lastFireTime").IsNull());
    const Json report = Ask("GET", "/admin/job/get?id=report");
    EXPECT_EQ(report.TextAt("/schedule/cron"), "0 3 * * *");
    EXPECT_EQ(report.TextAt("/mode"), "SINGLE_NODE");
    Ask("GET", "/admin/job/get?id=nope");
    EXPECT_EQ(status_, 404);
}

TEST_F(AdminTest, TriggersAndKeepsALog) {  // N-19
    Ask("POST", "/admin/job/trigger?id=report", R"({"day": "monday"})");
    EXPECT_EQ(status_, 200);
    ASSERT_TRUE(ran_.Await(1));
    EXPECT_EQ(day_, "monday");
    Ask("POST", "/admin/job/trigger?id=nope");
    EXPECT_EQ(status_, 404);
    // The log has the run once it is reported; the next trigger waits for that.
    scheduler_.Shutdown(10s);
    ASSERT_EQ(scheduler_.Snapshot().at(1).run_count, 1);
}

TEST_F(AdminTest, DisablesUntilTheRestart) {  // N-19
    const Json off =
        Ask("PUT", "/admin/job/update-status", R"({"id": "report", "enabled": false})");
    EXPECT_EQ(status_, 200);
    EXPECT_FALSE(off.At("/enabled").True());
    EXPECT_TRUE(off.At("/nextFireTime").IsNull());
    EXPECT_FALSE(scheduler_.Snapshot().at(1).enabled);
    Ask("PUT", "/admin/job/update-status", R"({"id": "report", "enabled": true})");
    EXPECT_TRUE(scheduler_.Snapshot().at(1).enabled);
}

// N-20: limits of groups hold for the jobs of a program, too.
TEST_F(AdminTest, AGroupRunsNoMoreAtOnceThanItsLimit) {
    Ask("PUT", "/api/v1/groups/narrow", R"({"max_concurrency": 1})");
    ASSERT_TRUE(status_ == 200 || status_ == 201) << status_;
    AwaitGroupLimit("narrow");
    std::atomic<int> running{0};
    std::atomic<int> most{0};
    Signal ended;
    for (const char* id : {"a", "b", "c"}) {
        ASSERT_TRUE(scheduler_.Add({.id = id, .cron = "0 0 1 1 *", .group = "narrow"},
                                   [&](JobContext& context) -> Task<> {
                                       most = std::max(most.load(), ++running);
                                       co_await context.Sleep(20ms);
                                       --running;
                                       ended.Note();
                                   }));
    }
    for (const char* id : {"a", "b", "c"}) ASSERT_TRUE(scheduler_.Trigger(id));
    EXPECT_TRUE(ended.Await(3));
    EXPECT_EQ(most, 1);
    scheduler_.Shutdown(10s);
}

TEST_F(AdminTest, ServesTheRestOfTheApiToo) {
    EXPECT_EQ(Ask("GET", "/api/v1/jobs/report").TextAt("/type"), "handler");
    Ask("GET", "/health");
    EXPECT_EQ(status_, 200);
    Ask("GET", "/metrics");
    EXPECT_EQ(status_, 200);
    const Json page = Ask("GET", "/admin/job-log/page?jobId=report");
    EXPECT_EQ(status_, 200);
    EXPECT_EQ(page.At("/total").Int(), 0);
}

}  // namespace
}  // namespace ksana::library
