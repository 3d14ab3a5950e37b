#include "ksana/codec/dispatcher/dispatcher_worker.hpp"

#include <gtest/gtest.h>

namespace ksana::codec {
namespace {

using model::WorkerState;

// D-05
TEST(DispatcherWorker, IsRead) {
    const auto read = DispatcherWorkerFromJson(
        R"({"id": "w1", "host": "h:1", "types": ["mail"], "slots": 4, "labels": {"zone": "a"}})");
    ASSERT_TRUE(read);
    EXPECT_TRUE(read->problems.empty());
    EXPECT_EQ(read->worker.id, "w1");
    EXPECT_EQ(read->worker.host, "h:1");
    EXPECT_EQ(read->worker.types, std::vector<std::string>{"mail"});
    EXPECT_EQ(read->worker.slots, 4);
    EXPECT_TRUE(read->worker.incarnation.IsNil());
    const auto faulty =
        DispatcherWorkerFromJson(R"({"host": 1, "types": "mail", "incarnation": "x", "a": 1})");
    ASSERT_TRUE(faulty);
    std::vector<std::string> paths;
    for (const Problem& one : faulty->problems) paths.push_back(one.path);
    EXPECT_EQ(paths, (std::vector<std::string>{"/id", "/host", "/types", "/incarnation", "/a"}));
    EXPECT_EQ(InWorkerWords({{"/name", "x"}, {"/slots", "y"}})[0].path, "/id");
}

TEST(DispatcherWorker, LoadIsACountOrAShare) {
    model::Worker worker;
    worker.slots = 8;
    worker.busy = 3;
    const auto busy = [&worker](std::string_view text) {
        const auto beat = DispatcherHeartbeatFromJson(text);
        return beat ? beat->BusyOf(worker) : -1;
    };
    EXPECT_EQ(busy(""), 3) << "what is known";
    EXPECT_EQ(busy("{}"), 3);
    EXPECT_EQ(busy(R"({"load": 0})"), 0);
    EXPECT_EQ(busy(R"({"load": 5})"), 5);
    EXPECT_EQ(busy(R"({"load": 0.3})"), 3);
    EXPECT_EQ(busy(R"({"load": 1.0})"), 8);
    for (const char* text : {R"({"load": -1})", R"({"load": 1.5})", R"({"load": "high"})",
                             R"({"laod": 1})", R"({"incarnation": "x"})"}) {
        EXPECT_FALSE(DispatcherHeartbeatFromJson(text)) << text;
    }
}

TEST(DispatcherWorker, StatesHaveWords) {
    EXPECT_EQ(WorkerWord(WorkerState::kAlive), "ALIVE");
    EXPECT_EQ(WorkerWord(WorkerState::kDraining), "DRAINING");
    EXPECT_EQ(WorkerWord(WorkerState::kDown), "DOWN");
    EXPECT_EQ(WorkerWord(WorkerState::kGone), "GONE");
    EXPECT_EQ(WorkerStateOf("DOWN"), WorkerState::kDown);
    EXPECT_FALSE(WorkerStateOf("down"));
}

TEST(DispatcherWorker, IsShown) {
    model::Worker worker;
    worker.id = "w1";
    worker.types = {"mail"};
    worker.busy = 1;
    const ShownWorker shown{worker, WorkerState::kAlive, std::chrono::seconds(30)};
    const std::string text = DispatcherWorkerToJson(shown);
    EXPECT_TRUE(text.starts_with(R"({"id":"w1","status":"ALIVE","host":"","types":["mail"],)"
                                 R"("load":1,"slots":1,)"))
        << text;
    EXPECT_NE(text.find(R"("drain":false,"heartbeat_interval":30,)"), std::string::npos) << text;
    model::Run run;
    run.job_id = "nightly";
    run.type = "mail";
    EXPECT_NE(DispatcherWorkerToJson(shown, {&run, 1}).find(R"("task_id":"nightly")"),
              std::string::npos);
}

}  // namespace
}  // namespace ksana::codec
