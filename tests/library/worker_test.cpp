// ksana::Worker against a server, and handlers in the scheduler's own process (G-01, G-05, G-08).

#include "ksana/worker.hpp"

#include <stdexcept>
#include <thread>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/client/api_client.hpp"
#include "library/library_fixture.hpp"
#include "library/run_signal.hpp"

namespace ksana::library {
namespace {

using namespace std::chrono_literals;
using codec::Json;

Json Parsed(std::string_view text) { return Json::Parse(text).value(); }

[[gnu::noinline]] void ThrowFromTheDepth() { throw std::out_of_range("no such page"); }

class WorkerTest : public ::testing::Test {
  protected:
    // A server with its API, inside this process.
    void StartServer() {
        const auto started = scheduler_.Start();
        ASSERT_TRUE(started) << started.error().Describe();
        url_ = "http://127.0.0.1:" + std::to_string(scheduler_.http_port());
        auto api = client::ApiClient::Make({.server = url_}, {.clock = clock_, .ids = ids_});
        ASSERT_TRUE(api) << api.error().Describe();
        api_ = *std::move(api);
    }
    // Runs the worker until the test ends.
    void Run(Worker& worker) {
        thread_ = std::jthread([&worker] {
            const auto ended = worker.Run();
            EXPECT_TRUE(ended) << ended.error().Describe();
        });
    }
    void Stop(Worker& worker) {
        worker.Stop();
        if (thread_.joinable()) thread_.join();
    }
    WorkerOptions Options(int slots = 2) const {
        return {.server = url_, .name = "test-worker", .slots = slots, .signals = false};
    }

    std::string Submit(std::string_view task) {
        const auto run = api_->Post("/api/v1/runs", Parsed(task));
        EXPECT_TRUE(run) << run.error().Describe();
        return run ? run->json.TextAt("/id") : "";
    }
    Json Show(const std::string& id) { return api_->Get("/api/v1/runs/" + id).value().json; }
    // Asks again until the run is so.
    template <class Predicate>
    Json Await(const std::string& id, Predicate is_so) {
        const SteadyPoint until = clock_.SteadyNow() + 30s;
        Wakeup pause;
        for (;;) {
            const Json run = Show(id);
            if (is_so(run)) return run;
            if (clock_.SteadyNow() > until) {
                ADD_FAILURE() << run.Pretty();
                return run;
            }
            clock_.Wait(pause, clock_.SteadyNow() + 5ms, {});
        }
    }
    Json AwaitState(const std::string& id, std::string_view state) {
        return Await(id, [&](const Json& run) { return run.TextAt("/state") == state; });
    }

    LogLines log_;
    SystemClock clock_;
    SystemRandom random_;
    UuidGenerator ids_{clock_, random_};
    Context context_;
    Scheduler scheduler_{context_, {.store = "memory:", .http = "127.0.0.1:0", .threads = 4}};
    std::string url_;
    std::unique_ptr<client::ApiClient> api_;
    std::jthread thread_;
};

// D-02: the worker consumes, works and reports the result. G-01.
TEST_F(WorkerTest, CarriesOutTasksAndHandlerJobs) {
    StartServer();
    Worker worker(Options());
    ASSERT_TRUE(worker.Handle("resize", [](TaskContext& task) {
        return R"({"got":)" + task.payload() + R"(,"job":")" + task.job_id() + "\"}";
    }));
    ASSERT_TRUE(worker.Handle("quiet", [](TaskContext&) {}));
    Run(worker);
    const Json run = AwaitState(Submit(R"({"type":"resize","payload":{"w":7}})"), "succeeded");
    EXPECT_EQ(run.At("/result").Compact(), R"({"got":{"w":7},"job":""})");
    EXPECT_TRUE(run.TextAt("/owner").starts_with("test-worker/")) << run.TextAt("/owner");
    AwaitState(Submit(R"({"type":"quiet"})"), "succeeded");

    const auto job = api_->Post("/api/v1/jobs", Parsed(R"({"id":"nightly","name":"nightly",
        "type":"handler","handler":{"name":"resize","input":{"w":8}},
        "schedule":{"kind":"every","every":"1h"}})"));
    ASSERT_TRUE(job) << job.error().Describe();
    const auto fired = api_->Post("/api/v1/jobs/nightly/run", Json::Object());
    ASSERT_TRUE(fired) << fired.error().Describe();
    const Json done = AwaitState(fired->json.TextAt("/id"), "succeeded");
    EXPECT_EQ(done.At("/result").Compact(), R"({"got":{"w":8},"job":"nightly"})");
    Stop(worker);
}

// D-13: the trace of the submitter goes on in the handler, below the span of the attempt.
TEST_F(WorkerTest, AHandlerContinuesTheTraceOfTheSubmitter) {
    StartServer();
    Worker worker(Options());
    ASSERT_TRUE(worker.Handle(
        "traced", [](TaskContext& task) { return '"' + std::string(task.traceparent()) + '"'; }));
    Run(worker);
    const std::string id = Submit(R"({"type":"traced",
        "traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"})");
    const Json run = AwaitState(id, "succeeded");
    Stop(worker);
    std::string attempt;
    const Json spans = api_->Get("/api/v1/runs/" + id + "/spans").value().json;
    for (const Json& span : spans.At("/spans").Items()) {
        if (span.TextAt("/name") == "attempt 1") attempt = span.TextAt("/span_id");
    }
    EXPECT_EQ(run.TextAt("/result"), "00-4bf92f3577b34da6a3ce929d0e0e4736-" + attempt + "-01");
}

// G-05, D-12: an exception is a failure of that run, with its type, text and stack.
TEST_F(WorkerTest, ExceptionIsAFailureWithItsStack) {
    StartServer();
    Worker worker(Options(1));
    ASSERT_TRUE(worker.Handle("page", [](TaskContext&) { ThrowFromTheDepth(); }));
    ASSERT_TRUE(worker.Handle("odd", [](TaskContext&) { throw 7; }));
    ASSERT_TRUE(worker.Handle("fine", [](TaskContext&) { return "1"; }));
    Run(worker);
    const std::string once = R"(,"retry":{"strategy":"none"}})";
    const Json failed = AwaitState(Submit(R"({"type":"page")" + once), "failed");
    const Json error = failed.At("/attempts/0/detail/error");
    EXPECT_EQ(error.TextAt("/type"), "std::out_of_range") << failed.Pretty();
    EXPECT_EQ(error.TextAt("/message"), "no such page");
    EXPECT_GT(error.TextAt("/stack").size(), 100U) << error.TextAt("/stack");
    EXPECT_EQ(failed.TextAt("/last_error"), "std::out_of_range: no such page");
    const Json odd = AwaitState(Submit(R"({"type":"odd")" + once), "failed");
    EXPECT_EQ(odd.TextAt("/attempts/0/detail/error/type"), "int");
    AwaitState(Submit(R"({"type":"fine"})"), "succeeded");
    Stop(worker);
}

TEST_F(WorkerTest, ExceptionsWithAMeaning) {
    StartServer();
    std::atomic<int> snoozed{0};
    std::atomic<int> retried{0};
    Worker worker(Options());
    ASSERT_TRUE(
        worker.Handle("broken", [](TaskContext&) { throw PermanentFailure("never again"); }));
    ASSERT_TRUE(worker.Handle("later", [&](TaskContext&) {
        if (++snoozed == 1) throw Snooze(10ms);
    }));
    ASSERT_TRUE(worker.Handle("again", [&](TaskContext& task) {
        if (++retried == 1) throw RetryAfter(10ms, "busy");
        EXPECT_EQ(task.attempt(), 2);
    }));
    ASSERT_TRUE(worker.Handle("nonsense", [](TaskContext&) { return "{no json"; }));
    Run(worker);
    const Json broken = AwaitState(Submit(R"({"type":"broken"})"), "failed");
    EXPECT_EQ(broken.At("/attempts").Items().size(), 1U);
    AwaitState(Submit(R"({"type":"later"})"), "succeeded");
    EXPECT_EQ(snoozed, 2);
    AwaitState(Submit(R"({"type":"again","retry":{"strategy":"fixed","interval":"1ms"}})"),
               "succeeded");
    const Json nonsense = AwaitState(Submit(R"({"type":"nonsense"})"), "failed");
    EXPECT_NE(nonsense.TextAt("/last_error").find("no JSON"), std::string::npos);
    Stop(worker);
}

TEST_F(WorkerTest, ProgressAndLogAreSeenWhileItRuns) {
    StartServer();
    Signal release;
    Worker worker(Options());
    ASSERT_TRUE(worker.Handle("long", [&](TaskContext& task) {
        task.Progress(40, "page 4");
        task.Log("first line");
        EXPECT_TRUE(release.Await(1));
        task.Log("last line");
    }));
    Run(worker);
    const std::string id = Submit(R"({"type":"long","timeout":"1m"})");
    const Json seen = Await(id, [](const Json& run) { return run.At("/progress").Int() == 40; });
    EXPECT_EQ(seen.TextAt("/progress_note"), "page 4");
    EXPECT_EQ(seen.At("/attempts/0/detail/log").Compact(), R"(["first line"])");
    release.Note();
    const Json done = AwaitState(id, "succeeded");
    EXPECT_EQ(done.At("/attempts/0/detail/log").Compact(), R"(["first line","last line"])");
    Stop(worker);
}

TEST_F(WorkerTest, CancelEndsTheHandler) {
    StartServer();
    std::atomic<bool> slept{true};
    Signal begun;
    WorkerOptions options = Options();
    options.lease = 1s;  // so that the cancel is heard soon
    Worker worker(options);
    ASSERT_TRUE(worker.Handle("long", [&](TaskContext& task) {
        begun.Note();
        slept = task.Sleep(1min);
        task.Check();
    }));
    Run(worker);
    const std::string id = Submit(R"({"type":"long","timeout":"1m"})");
    ASSERT_TRUE(begun.Await(1));
    ASSERT_TRUE(api_->Post("/api/v1/runs/" + id + "/cancel", Json::Object()));
    AwaitState(id, "cancelled");
    Stop(worker);
    EXPECT_FALSE(slept);
}

// D-04: over its timeout the task is stopped. G-08: one that does not stop is recorded so.
TEST_F(WorkerTest, TimeoutCancelsAndAStubbornHandlerIsRecorded) {
    StartServer();
    Signal release;
    std::atomic<bool> slept{true};
    Worker worker(Options());
    ASSERT_TRUE(worker.Handle("slow", [&](TaskContext& task) {
        EXPECT_TRUE(task.deadline());
        slept = task.Sleep(1min);
        task.Check();
    }));
    ASSERT_TRUE(worker.Handle("stubborn", [&](TaskContext&) { EXPECT_TRUE(release.Await(1)); }));
    Run(worker);
    const std::string once = R"(,"retry":{"strategy":"none"}})";
    AwaitState(Submit(R"({"type":"slow","timeout":"200ms")" + once), "timed_out");
    ASSERT_TRUE(api_->Post("/api/v1/jobs", Parsed(R"({"id":"stubborn","name":"stubborn",
        "type":"handler","handler":{"name":"stubborn"},"timeout":"200ms","stop_grace":"300ms",
        "schedule":{"kind":"every","every":"1h"})" +
                                                  once)));
    const auto fired = api_->Post("/api/v1/jobs/stubborn/run", Json::Object());
    ASSERT_TRUE(fired) << fired.error().Describe();
    const Json run = AwaitState(fired->json.TextAt("/id"), "timed_out");
    EXPECT_TRUE(run.At("/attempts/0/not_stopping").True()) << run.Pretty();
    EXPECT_EQ(worker.running(), 1U) << "it keeps its slot";
    release.Note();
    Stop(worker);
    EXPECT_FALSE(slept);
}

// The same registration without a server: the scheduler's own store.
TEST_F(WorkerTest, SchedulerHandlesTasksItself) {
    ASSERT_TRUE(scheduler_.Handle("resize", [](TaskContext& task) {
        task.Progress(50, "half");
        return task.payload();
    }));
    EXPECT_EQ(scheduler_.Handle("resize", [](TaskContext&) {}).error().code, Code::kAlreadyExists);
    ASSERT_TRUE(scheduler_.Handle("page", [](TaskContext&) { ThrowFromTheDepth(); }));
    StartServer();
    EXPECT_EQ(scheduler_.Handle("late", [](TaskContext&) {}).error().code, Code::kConflict);
    const Json run = AwaitState(Submit(R"({"type":"resize","payload":[1]})"), "succeeded");
    EXPECT_EQ(run.At("/result").Compact(), "[1]");
    const Json failed =
        AwaitState(Submit(R"({"type":"page","retry":{"strategy":"none"}})"), "failed");
    EXPECT_EQ(failed.TextAt("/attempts/0/detail/error/type"), "std::out_of_range");
    ASSERT_TRUE(api_->Post("/api/v1/jobs", Parsed(R"({"id":"nightly","name":"nightly",
        "type":"handler","handler":{"name":"resize","input":{"w":8}},
        "schedule":{"kind":"every","every":"1h"}})")));
    const auto fired = api_->Post("/api/v1/jobs/nightly/run", Json::Object());
    ASSERT_TRUE(fired) << fired.error().Describe();
    AwaitState(fired->json.TextAt("/id"), "succeeded");
}

TEST_F(WorkerTest, WrongUseIsRefused) {
    Worker worker({.server = "ftp://nowhere", .signals = false});
    EXPECT_EQ(worker.Run().error().message, "the worker has no handler");
    Worker other({.server = "ftp://nowhere", .signals = false});
    EXPECT_EQ(other.Handle("no blanks", [](TaskContext&) {}).error().code, Code::kInvalidArgument);
    ASSERT_TRUE(other.Handle("a", [](TaskContext&) {}));
    EXPECT_EQ(other.Handle("a", [](TaskContext&) {}).error().code, Code::kAlreadyExists);
    EXPECT_NE(other.Run().error().message.find("ftp://nowhere"), std::string::npos);
    EXPECT_EQ(other.Handle("b", [](TaskContext&) {}).error().code, Code::kConflict);
    Scheduler without(context_, {});
    ASSERT_TRUE(without.Handle("a", [](TaskContext&) {}));
    EXPECT_NE(without.Start().error().message.find("need a store"), std::string::npos);
}

// A second worker under the name takes over; the first one ends with an error.
TEST_F(WorkerTest, TheNewerOfTwoWithOneNameStays) {
    StartServer();
    Worker first(Options());
    Worker second(Options());
    for (Worker* const worker : {&first, &second}) {
        ASSERT_TRUE(worker->Handle("a", [](TaskContext&) {}));
    }
    std::optional<Error> failure;
    std::jthread old([&] {
        const auto ended = first.Run();
        if (!ended) failure = ended.error();
    });
    AwaitState(Submit(R"({"type":"a"})"), "succeeded");
    Run(second);
    old.join();
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->code, Code::kLeaseLost);
    AwaitState(Submit(R"({"type":"a"})"), "succeeded");
    Stop(second);
}

}  // namespace
}  // namespace ksana::library
