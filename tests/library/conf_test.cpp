// jobs.conf: N-06.

#include <fstream>

#include "library/library_fixture.hpp"
#include "support/temporary_folder.hpp"

namespace ksana::library {
namespace {

using namespace std::chrono_literals;

void Nothing(JobContext&) {}

class ConfTest : public ::testing::Test {
  protected:
    // A scheduler with the jobs "clean" and "sync", and this text in jobs.conf.
    Result<void> StartWith(const std::string& text) {
        const std::string file = (folder_.path() / "jobs.conf").string();
        std::ofstream(file) << text;
        test_ =
            std::make_unique<testing::TestScheduler>(context_, SchedulerOptions{.config = file});
        KSANA_TRY_VOID(test_->scheduler().Add({.id = "clean", .cron = "0 3 * * *"}, Nothing));
        KSANA_TRY_VOID(test_->scheduler().Add(
            {.id = "sync", .fixed_rate = 5min, .initial_delay = 10s, .lock_ttl = 30s}, Nothing));
        return test_->Start();
    }
    std::string FaultOf(const std::string& text) {
        const auto started = StartWith(text);
        return started ? "" : started.error().Describe();
    }
    JobStatus Status(std::string_view id) const { return test_->StatusOf(id).value(); }

    LogLines log_;
    test::TemporaryFolder folder_;
    Context context_;
    std::unique_ptr<testing::TestScheduler> test_;
};

TEST_F(ConfTest, TheFileBeatsTheCode) {
    ASSERT_EQ(FaultOf(R"([jobs]
enabled = true

[[jobs.items]]
id = "clean"
cron = "0 4 * * *"

[[jobs.items]]
id = "sync"
enabled = false
fixedRate = 600000
initialDelay = 20000
lockTtlMs = 1000
mode = "ALL_NODES"
)"),
              "");
    EXPECT_EQ(Status("clean").schedule.cron, "0 4 * * *");
    EXPECT_EQ(Status("clean").next_fire_time, After(4h));
    const JobStatus sync = Status("sync");
    EXPECT_FALSE(sync.enabled);
    EXPECT_EQ(sync.schedule.fixed_rate, 10min);
    EXPECT_EQ(sync.schedule.initial_delay, 20s);
    EXPECT_EQ(sync.mode, ExecutionMode::kAllNodes);
    EXPECT_EQ(sync.next_fire_time, std::nullopt);
}

TEST_F(ConfTest, WhatTheFileDoesNotSayStays) {
    ASSERT_EQ(FaultOf("[[jobs.items]]\nid = \"sync\"\nenabled = true\n"), "");
    EXPECT_EQ(Status("sync").schedule.fixed_rate, 5min);
    EXPECT_EQ(Status("sync").next_fire_time, After(10s));
    EXPECT_EQ(Status("clean").next_fire_time, After(3h));
}

TEST_F(ConfTest, ARateTakesThePlaceOfACron) {
    ASSERT_EQ(FaultOf("[[jobs.items]]\nid = \"clean\"\nfixedRate = 1000\n"), "");
    EXPECT_EQ(Status("clean").schedule.cron, "");
    EXPECT_EQ(Status("clean").schedule.fixed_rate, 1s);
}

TEST_F(ConfTest, TheGlobalSwitchTurnsEverythingOff) {  // N-07
    ASSERT_EQ(FaultOf("[jobs]\nenabled = false\n[[jobs.items]]\nid = \"sync\"\nenabled = true\n"),
              "");
    test_->Advance(24h);
    EXPECT_TRUE(test_->FiresOf("sync").empty());
    EXPECT_TRUE(test_->FiresOf("clean").empty());
}

TEST_F(ConfTest, AMissingFileIsToldAndChangesNothing) {
    testing::TestScheduler test(context_, {.config = (folder_.path() / "nope.conf").string()});
    EXPECT_TRUE(test.Start());
    EXPECT_EQ(log_.With({"warn", "no such file", "nope.conf"}).size(), 1U);
}

// Every fault is named with file and line, and nothing is started.
TEST_F(ConfTest, FaultsAreNamedWithTheirLine) {
    const std::string fault = FaultOf(R"([jobs]
enabeld = true

[[jobs.items]]
id = "claen"

[[jobs.items]]
id = "sync"
fixedrate = 3
fixedRate = "5s"
lockTtlMs = 0
mode = "BOTH"
enabled = 1
)");
    EXPECT_NE(fault.find("jobs.conf:2/jobs/enabeld: is no known key; did you mean \"enabled\"?"),
              std::string::npos)
        << fault;
    EXPECT_NE(fault.find("jobs.conf:9/jobs/items/1/fixedrate: is no known key; did you mean "
                         "\"fixedRate\"?"),
              std::string::npos)
        << fault;
    EXPECT_NE(fault.find("jobs.conf:10/jobs/items/1/fixedRate: must be a whole number"),
              std::string::npos)
        << fault;
    EXPECT_NE(fault.find("jobs.conf:11/jobs/items/1/lockTtlMs: must be a whole number"),
              std::string::npos)
        << fault;
    EXPECT_NE(fault.find("jobs.conf:12/jobs/items/1/mode: must be"), std::string::npos) << fault;
    EXPECT_NE(fault.find("jobs.conf:13/jobs/items/1/enabled: must be true or false"),
              std::string::npos)
        << fault;
}

TEST_F(ConfTest, UnknownIdsAndBadExpressionsAreNamedWithTheirLine) {
    const std::string fault = FaultOf(
        "[[jobs.items]]\nid = \"claen\"\n\n[[jobs.items]]\nid = \"sync\"\ncron = \"61 * * * *\"\n");
    EXPECT_NE(fault.find("jobs.conf:1: there is no job \"claen\"; did you mean \"clean\"?"),
              std::string::npos)
        << fault;
    EXPECT_NE(fault.find("jobs.conf:4/cron: "), std::string::npos) << fault;
    EXPECT_NE(FaultOf("[[jobs.items]]\nid = \"sync\"\ncron = \"* * * * *\"\nfixedRate = 5\n")
                  .find("has both cron and fixedRate"),
              std::string::npos);
    EXPECT_NE(FaultOf("[[jobs.items]]\ncron = \"* * * * *\"\n").find("needs an id"),
              std::string::npos);
    EXPECT_NE(FaultOf("[jobs\n").find("line 1"), std::string::npos);
    EXPECT_NE(FaultOf("jobs = 3\n").find("jobs.conf:1/jobs: must be a table"), std::string::npos);
}

}  // namespace
}  // namespace ksana::library
